import Glibc
import Served

@testable import ModuleHost

/// Calls on the lane of a host in this process.
struct LaneRounds {
    private let host: Host
    static let calls = 20_000
    static let outstanding = 10_000

    /// Starts the host, and waits until it is ready.
    init() throws {
        let slatefile = try Slatefile.read(
            Array(Self.slatefile.utf8), path: "slatefile.json", environment: { _ in nil })
        let ready = BlockingFuture<Void>()
        host = Host(
            slatefile: slatefile, stateDirectory: "/nonexistent",
            log: Log(to: NoLog()), observer: Host.Observer(onReady: { _, _, _ in ready.keep(()) }))
        try host.launch()
        _ = ready.take()
    }

    static let slatefile = """
        {"slate": 1, "app": "bench", "schemes": ["bench"], "deadlines": {"event": "1h"}, "modules": [
          {"id": "bench.answers", "entry": "Later.AnsweringModule", "main": true}]}
        """

    /// The nanoseconds of one of many repetitions on the lane.
    private func measure(_ body: @escaping @Sendable (App, LaneThread) -> Void) -> Double {
        let took = BlockingFuture<Int>()
        host.onLane { app, thread in
            let began = nanoseconds()
            body(app, thread)
            took.keep(nanoseconds() - began)
        }
        return Double(took.take() ?? 0) / Double(Self.calls)
    }

    /// A call whose handler returns at once.
    func now() -> Double { call("now") }

    /// A call whose handler is asynchronous, and does not suspend.
    func later() -> Double { call("later") }

    private func call(_ action: String) -> Double {
        measure { app, thread in
            for _ in 0..<Self.calls {
                let caller = Caller(origin: .host).waiting(LateAnswer { _ in })
                _ = try? app.calls?.perform(
                    "bench.answers", action, RouteParameters(), for: caller, on: thread)
            }
        }
    }

    /// A bare task on the executor of the module, entered through the gate, that does not suspend.
    func task() -> Double {
        measure { app, thread in
            guard let record = app.records.first, let place = record.place else { return }
            for _ in 0..<Self.calls {
                _ = app.gate.call(record.slot, on: thread) {
                    place.begin { _ in
                    } onCreate: { _ in
                    }
                }
            }
        }
    }

    /// The bytes of the heap that each of many calls takes which have yet to be answered.
    func callBytes() -> Int {
        bytes { app, thread in
            let caller = Caller(origin: .host).waiting(LateAnswer { _ in })
            _ = try? app.calls?.perform(
                "bench.answers", "wait", RouteParameters(), for: caller, on: thread)
        }
    }

    /// The same for bare tasks on the executor of the module.
    func taskBytes() -> Int {
        bytes { app, thread in
            guard let record = app.records.first, let place = record.place else { return }
            _ = app.gate.call(record.slot, on: thread) {
                place.begin { _ in
                    await Gates.pass()
                } onCreate: { _ in
                }
            }
        }
    }

    private func bytes(_ body: @escaping @Sendable (App, LaneThread) -> Void) -> Int {
        Gates.reserve(Self.outstanding)
        let taken = BlockingFuture<Int>()
        host.onLane { app, thread in
            body(app, thread)
            let before = mallinfo2().uordblks
            for _ in 0..<Self.outstanding { body(app, thread) }
            taken.keep(Int(mallinfo2().uordblks) - Int(before))
        }
        let bytes = taken.take() ?? 0
        Gates.open()
        // Until what waited has ended.
        let ended = BlockingFuture<Void>()
        host.onLaneWhenIdle { _ in ended.keep(()) }
        _ = ended.take()
        return bytes / Self.outstanding
    }

    func stop() { host.stop(because: "the benchmark is over") }
}

/// A log that nobody reads.
private struct NoLog: LogSink {
    func write(_: LogRecord) {}
}
