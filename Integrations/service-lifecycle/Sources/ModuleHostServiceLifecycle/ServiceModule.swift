import Logging
public import ModuleHostCore
public import ServiceLifecycle

/// A module that runs a `Service`, as it is.
///
/// ```swift
/// final class MailModule: ServiceModule {
///     let context: ModuleContext
///     let service = MailQueue()
///
///     init(context: ModuleContext) { self.context = context }
/// }
/// ```
///
/// Several services with an order among them are one service, a `ServiceGroup` without signals.
///
/// - Start: The service runs once `launch` has been delivered to every module. Whatever may fail before belongs into the
///   module's `init`, or into ``LaunchResponder/didFinishLaunching(_:)``.
/// - Thread: The service runs off the lane, on the host's worker threads, and must not block them.
/// - Stop: When the module has received `terminate`, in a stop, a reload or a restart, its service is to shut down
///   gracefully. The module is released when the service has returned; in a stop of the app, it can be called until then. A
///   service that takes longer than `deadlines.stop`, 10 s by default, is cancelled.
/// - Failure: If the service throws or returns before that, the module has failed: `retry` and `required` of the
///   slatefile apply, and the next instance of the module has a new service.
public protocol ServiceModule: RunningModule {
    /// The type of the service.
    associatedtype RunService: Service

    /// The context that `init` received.
    var context: ModuleContext { get }

    /// The service of this instance of the module, which is run once.
    var service: RunService { get }
}

extension ServiceModule {
    /// Runs the service until the module is to end.
    ///
    /// - Parameter isolation: The isolation of the module.
    /// - Throws: The error of the service, or that it has returned early.
    public func run(isolation: isolated any Actor) async throws {
        let name = "\(RunService.self)"
        let request = ShutdownRequest()
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: request, successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: .current))
        let end = ServiceEnd()
        try begin(group, name, end)
        // The task of `run` is cancelled when `terminate` has been delivered, and that of `perform` when the module is
        // released.
        let early = await end.orCancellation { [log = context.log] in
            log.info("\(name) shuts down gracefully")
            request.make()
        }
        if let early {
            try early.get()
            throw ServiceReturned(name: name)
        }
        do {
            try await end.result().get()
        } catch is CancellationError {
            // Logged when it was cancelled.
        } catch {
            context.log.error("\(name) failed while it shut down: \(error)")
        }
    }

    private func begin(_ group: ServiceGroup, _ name: String, _ end: ServiceEnd) throws {
        let ending = ServiceEnd.Guard(of: end)
        let log = context.log
        try context.perform("service \(name)", deadline: unlimited) {
            await withTaskCancellationHandler {
                do {
                    try await group.run()
                    ending.end.keep(.success(()))
                } catch {
                    ending.end.keep(.failure(error))
                }
            } onCancel: {
                log.warning(
                    "\(name) did not shut down in time, see 'deadlines.stop': it is cancelled")
            }
        }
    }
}

/// The request that a group shuts down, as a service beside the one that it is for.
///
/// `ServiceGroup.triggerGracefulShutdown()` needs a task, which would wait for the lane: a slow module would take the
/// time that the service has for its shutdown.
private struct ShutdownRequest: Service {
    private let requests = AsyncStream<Never>.makeStream()

    /// Makes the request, at any time and on any thread.
    func make() { requests.continuation.finish() }

    /// Waits for the request, or until the other service has ended.
    func run() async {
        await withGracefulShutdownHandler {
            for await _ in requests.stream {}
        } onGracefulShutdown: {
            make()
        }
    }
}

/// A deadline that no host lives to see.
private let unlimited: Duration = .seconds(100 * 365 * 86_400)

/// The error of a service that ended before it was to.
private struct ServiceReturned: Error, CustomStringConvertible {
    let name: String

    var description: String {
        "\(name) returned before it was to shut down: a service runs until then, so let its run() wait for "
            + "'gracefulShutdown()'"
    }
}
