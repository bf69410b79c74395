import Testing

@testable import ModuleHostCore

/// The calls of a process that it has not answered, as a table.
@Suite("Calls that a process has not answered")
struct OpenCallsTests {
    private final class Caller: LateCall {
        func run(_: @escaping LateHandler) {}
        func answer(_: Result<any Encodable & Sendable, any Error>) -> Bool { true }
        func whenCancelled(_: @escaping @Sendable () -> Void) {}
    }

    /// The calls, at times in seconds from their beginning.
    private final class Clocked {
        private static let limit = Duration.seconds(5)

        private var calls = OpenCalls()
        private let start = ContinuousClock.now

        var first: Int? { calls.first }
        var count: Int { calls.count }

        private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

        func add(_ number: Int, at seconds: Int) -> Bool {
            calls.add(number, Caller(), at: at(seconds))
        }

        func remove(_ number: Int, at seconds: Int) -> Bool {
            calls.remove(number, at: at(seconds)) != nil
        }

        func removeAll() -> Int { calls.removeAll().count }

        func restart(at seconds: Int) { calls.restart(at: at(seconds)) }

        func look(at seconds: Int, isWaiting: Bool = false) -> String {
            switch calls.look(at: at(seconds), within: Self.limit, isWaiting: isWaiting) {
            case .idle: "idle"
            case .late: "late"
            case .due(let end): "due at \(start.duration(to: end).components.seconds)"
            }
        }
    }

    @Test("the first one has its time from when it is the first, however many wait behind it")
    func first() {
        let calls = Clocked()
        #expect(calls.add(1, at: 0))
        for number in 2...4 { #expect(!calls.add(number, at: 0)) }
        #expect(calls.look(at: 4) == "due at 5")
        #expect(calls.remove(1, at: 4))
        #expect(calls.look(at: 5) == "due at 9")
        #expect(calls.remove(2, at: 8))
        #expect(calls.first == 3)
        #expect(calls.look(at: 9) == "due at 13")
        #expect(calls.look(at: 13) == "late")
        #expect(calls.count == 2)
    }

    @Test("one that is answered out of turn does not give the first one more time")
    func outOfTurn() {
        let calls = Clocked()
        for number in 1...3 { _ = calls.add(number, at: 0) }
        #expect(calls.remove(2, at: 4))
        #expect(!calls.remove(2, at: 4))
        #expect(calls.look(at: 4) == "due at 5")
        #expect(calls.remove(1, at: 4))
        #expect(calls.first == 3)
        #expect(calls.look(at: 8) == "due at 9")
    }

    @Test(
        "while the process waits for an answer itself, and until it has its time again, it is not late"
    )
    func waiting() {
        let calls = Clocked()
        _ = calls.add(1, at: 0)
        #expect(calls.look(at: 5, isWaiting: true) == "due at 10")
        #expect(calls.look(at: 10, isWaiting: true) == "due at 15")
        calls.restart(at: 12)
        #expect(calls.look(at: 15) == "due at 17")
        #expect(calls.look(at: 17) == "late")
    }

    @Test("the time is watched from the first call on, until there is none or all have failed")
    func watched() {
        let calls = Clocked()
        #expect(calls.add(1, at: 0))
        #expect(calls.remove(1, at: 1))
        #expect(!calls.add(2, at: 2))
        #expect(calls.look(at: 5) == "due at 7")
        #expect(calls.remove(2, at: 6))
        #expect(calls.look(at: 7) == "idle")
        #expect(calls.add(3, at: 10))
        #expect(calls.look(at: 15) == "late")
        // It may be answered before the module is entered: it is watched on.
        #expect(!calls.add(5, at: 15))
        #expect(calls.remove(3, at: 16))
        #expect(calls.look(at: 17) == "due at 21")
        #expect(calls.look(at: 21) == "late")
        #expect(calls.removeAll() == 1)
        #expect(calls.first == nil && calls.count == 0)
        #expect(calls.add(4, at: 20))
        #expect(calls.look(at: 24) == "due at 25")
    }
}
