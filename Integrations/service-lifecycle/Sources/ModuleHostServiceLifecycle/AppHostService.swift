public import ModuleHostCore
public import ServiceLifecycle

/// A host as a service of a `ServiceGroup`.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [database, AppHostService(host), server], gracefulShutdownSignals: [.sigterm])
/// try await group.run()
/// ```
///
/// - Order: The group starts its services at once and shuts them down one after the other, the last one first. List a
///   host behind the services that its modules use, and before those that make requests to it.
/// - Stop: A graceful shutdown and a cancellation both stop the app in good order, within `deadlines.stopAll`.
public struct AppHostService: Service {
    private let host: AppHost

    /// Creates the service of a host that was not run before.
    ///
    /// - Parameter host: The host. Other services may make requests to it, which wait for READY.
    public init(_ host: AppHost) { self.host = host }

    /// Runs the app until the service is to shut down, is cancelled, or the app ends.
    ///
    /// Returns when every module is released. If that was not asked for, as by `stop(because:)`, the group takes it as an
    /// unexpected end, unless its configuration of this service has another `successTerminationBehavior`.
    ///
    /// - Throws: `HostError`: `failed` if a required part failed, and `overdue` if the stop ran out of time.
    public func run() async throws {
        try await withGracefulShutdownHandler {
            try await host.run()
        } onGracefulShutdown: { [host] in
            host.stop(because: "the service group shuts down")
        }
    }
}

extension AppHostService: CustomStringConvertible {
    /// The name of the service in the messages of a group.
    public var description: String { "AppHost" }
}
