// The server of docs/embedding.md, compiled and run.

import ModuleHostCore

/// A server whose features are the modules of a host.
struct Server {
    private let host: AppHost

    init(slatefile: String) throws {
        host = try AppHost(slatefileAt: slatefile) { record in
            print(record.level.rawValue, record.module ?? "host", record.message)
        }
    }

    /// Serves until the task is cancelled, or `serve` or the host has ended.
    func run(_ serve: @escaping @Sendable (Server) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await host.run() }
            group.addTask { try await serve(self) }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Answers a request of a client, who reaches only public routes.
    func answer(_ path: String) async -> String {
        do {
            return try await host.open("slate://\(path)", from: .control(uid: 65534, pid: 0)).text
        } catch {
            return "\(error)"
        }
    }
}
