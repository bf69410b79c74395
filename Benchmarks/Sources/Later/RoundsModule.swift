import HeapSize
public import ModuleHost
import Served
import Synchronization

/// A module that measures calls of another one, and bare tasks, from its own asynchronous code on the lane.
public final class RoundsModule: RunningModule {
    /// The results of the measurements.
    struct Figures: Sendable {
        /// The nanoseconds of each, in all rounds.
        var times: [String: [Double]] = [:]
        /// The bytes of the heap of each of many that have not ended.
        var bytes: [String: Int] = [:]
    }

    static let figures = Mutex(Figures())
    static let outstanding = 10_000
    private static let count = 20_000
    private static let rounds = 7

    private let context: ModuleContext

    /// - Parameter context: Its way to the module that answers.
    public init(context: ModuleContext) { self.context = context }

    /// Measures everything, and ends.
    public func run(isolation: isolated any Actor) async throws {
        for _ in 0..<Self.rounds {
            for action in ["now", "later"] {
                let began = nanoseconds()
                for _ in 0..<Self.count {
                    try await context.mediator.perform("bench.answers", action)
                }
                note(action, since: began)
            }
            let began = nanoseconds()
            for _ in 0..<Self.count {
                // Not its value: that is awaited off the executor, which would cost two changes of the thread.
                await withCheckedContinuation(isolation: isolation) { ended in
                    Task {
                        _ = isolation
                        ended.resume()
                    }
                }
            }
            note("task", since: began)
        }
        // Twice: what is made once and for all is there the second time.
        for _ in 0..<2 {
            await measureBytes("call") { done in
                context.mediator.perform("bench.answers", "wait") { _ in done() }
            }
            await measureBytes("task") { done in
                Task {
                    _ = isolation
                    await Gates.pass()
                    done()
                }
            }
        }
    }

    private func note(_ name: String, since began: Int) {
        let each = Double(nanoseconds() - began) / Double(Self.count)
        Self.figures.withLock { $0.times[name, default: []].append(each) }
    }

    private nonisolated(nonsending) func measureBytes(
        _ name: String, _ begin: (_ done: @escaping @Sendable () -> Void) -> Void
    ) async {
        Gates.reserve(Self.outstanding)
        let ended = Gates.Count()
        let before = heap_size()
        for _ in 0..<Self.outstanding { begin { ended.add() } }
        await Gates.passed(Self.outstanding)
        let bytes = (heap_size() - before) / Self.outstanding
        Self.figures.withLock { $0.bytes[name] = bytes }
        Gates.open()
        await ended.reached(Self.outstanding)
    }
}
