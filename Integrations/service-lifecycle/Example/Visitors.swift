import ModuleHostServiceLifecycle

/// A stand-in for an HTTP server: six visitors come at once, and each sends a mail.
struct Visitors: Service {
    let host: AppHost

    func run() async throws {
        for name in ["Ada", "Ben", "Cleo", "Dan", "Eve", "Fay"] {
            try await host.open("mail://send/from%20\(name)", from: .control(uid: 65534, pid: 0))
        }
        try await gracefulShutdown()
        print("no more visitors")
    }
}
