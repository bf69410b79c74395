import Glibc
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

// The peer of a host of many modules: a `ServiceGroup` of as many services, each of which runs until it is asked to end.
//
// `ServiceGroupPeer COUNT` prints a line when all of them run, and ends in order at TERM.

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0
precondition(count > 0, "usage: ServiceGroupPeer COUNT")
var logger = Logger(label: "bench")
logger.logLevel = .error
let services = (0..<count).map { _ in IdleService(count: count) }
try await ServiceGroup(
    services: services, gracefulShutdownSignals: [.sigterm], logger: logger
).run()

/// Waits for the end of the group.
struct IdleService: Service {
    /// The number of services that run.
    private static let running = Atomic(0)

    /// The number of all.
    let count: Int

    func run() async throws {
        if Self.running.add(1, ordering: .relaxed).newValue == count {
            print("ready \(count) services")
            fflush(nil)
        }
        try await gracefulShutdown()
    }
}
