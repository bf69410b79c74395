import Dispatch

@testable import ModuleHostServiceLifecycle

/// A service that does what it is asked to, one after the other, and says what it has done.
///
/// It does what it has accepted before it shuts down.
struct Worker: Service {
    enum Order {
        case work(String)
        /// Wait for ``release()``, or for the cancellation.
        case wait
        case fail
        case leave
    }

    struct Failure: Error, CustomStringConvertible {
        let description = "the disk is on fire"
    }

    let say: @Sendable (String) -> Void
    private let orders = AsyncStream<Order>.makeStream()
    private let releases = AsyncStream<Void>.makeStream()

    init(say: @escaping @Sendable (String) -> Void) { self.say = say }

    func accept(_ order: Order) { orders.continuation.yield(order) }

    func release() { releases.continuation.yield() }

    func run() async throws {
        say("begins")
        try await withGracefulShutdownHandler {
            for await order in orders.stream {
                switch order {
                case .work(let name): say("did \(name)")
                case .fail: throw Failure()
                case .leave: return
                case .wait:
                    say("waits")
                    var releases = releases.stream.makeAsyncIterator()
                    guard await releases.next() != nil else {
                        say("was cancelled")
                        throw CancellationError()
                    }
                }
            }
            say("has drained")
        } onGracefulShutdown: { [orders] in
            orders.continuation.finish()
        }
    }
}

/// A module with a worker, whose words are in the module's log.
final class WorkerModule: ServiceModule {
    let context: ModuleContext
    let service: Worker

    init(context: ModuleContext) {
        self.context = context
        service = Worker { [log = context.log] in log.notice($0) }
    }
}

/// A door that code stands before, with its thread, until the test opens it.
final class Door: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func pass() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// A module that blocks the lane as soon as its task is cancelled.
final class BlockingModule: RunningModule {
    static let door = Door()

    private let log: Log

    init(context: ModuleContext) { log = context.log }

    func run(isolation: isolated any Actor) async throws {
        log.notice("begins")
        // Goes on as the first code of the lane behind the cancellation.
        _ = await ServiceEnd().orCancellation {}
        Self.door.pass()
        log.notice("passed")
    }
}
