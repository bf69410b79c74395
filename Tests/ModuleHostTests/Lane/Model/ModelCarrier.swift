import AppService
import Dispatch
import Glibc
import Synchronization
import TestSupport

@testable import ModuleHostCore

/// A loop beside the host, as those that take signals and serve the control socket: what is given to it is done in
/// a turn, and a lone job that this lists is run by its own thread.
final class ModelCarrier: Sendable {
    /// The counts of a trial's loops.
    struct Tally: Sendable {
        var carried = 0
        /// The number of times that a loop passed to its other thread.
        var passed = 0
    }

    private let work = Guarded<[(@Sendable () -> Void)?]>([])
    private let given = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let tally = Guarded(Tally())
    /// The thread of the last turn.
    private let lastThread = Atomic<UInt>(0)

    /// Starts the loop; it passes to its other thread after `patience`.
    ///
    /// - Throws: Where there is no room for a thread.
    init(of lane: Lane, patience: Duration) throws {
        let duty = Duty("model", of: lane, patience: patience) { [self] waits in
            note(hasCarried: !waits)
            guard given.wait(timeout: waits ? .distantFuture : .now()) == .success else {
                return .goOn
            }
            guard let body = work.withLock({ $0.removeFirst() }) else { return .end }
            body()
            done.signal()
            return .goOn
        }
        try NativeThread.start(name: "model") { duty.run(startsSecond: true) }
        while !duty.hasStandby { sched_yield() }
    }

    /// Does the work in a turn, and returns before what it lists is run.
    ///
    /// - Returns: False where no thread has taken a turn within the time.
    func run(within limit: Duration, _ body: @escaping @Sendable () -> Void) -> Bool {
        give(body)
        return done.wait(timeout: .now() + .nanoseconds(limit.wholeNanoseconds)) == .success
    }

    /// Ends the loop.
    ///
    /// - Returns: What happened in it.
    func end() -> Tally {
        give(nil)
        return tally.withLock { $0 }
    }

    private func note(hasCarried: Bool) {
        let current = NativeThread.current
        let before = lastThread.exchange(current, ordering: .relaxed)
        tally.withLock { tally in
            if hasCarried { tally.carried += 1 }
            if before != 0, before != current { tally.passed += 1 }
        }
    }

    private func give(_ body: (@Sendable () -> Void)?) {
        work.withLock { $0.append(body) }
        given.signal()
    }
}
