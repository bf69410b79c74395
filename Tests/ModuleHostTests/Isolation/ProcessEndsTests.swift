import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The end of processes under one clock")
struct ProcessEndsTests {
    /// A process that notes what is done to it.
    private final class Process: EndingProcess {
        private let name: String
        private let notes: LockedList<String>
        private let endHandlers = LockedList<@Sendable () -> Void>()

        init(_ name: String, _ notes: LockedList<String>) {
            (self.name, self.notes) = (name, notes)
        }

        func ask() { notes.append("\(name) asked") }
        func terminate(after time: Duration) { notes.append("\(name) SIGTERM after \(time)") }
        func kill() { notes.append("\(name) SIGKILL") }
        func whenEnded(_ body: @escaping @Sendable () -> Void) { endHandlers.append(body) }
        func end() { for handle in endHandlers.values { handle() } }
    }

    private let time = ManualTimeSource()
    private let notes = LockedList<String>()
    private let ends: ProcessEnds
    private let times = ProcessEndState.Times(asked: .seconds(10), terminating: .seconds(2))

    init() { ends = ProcessEnds(time: time) }

    private func asked(_ names: String...) throws -> [Process] {
        try names.map { name in
            let process = Process(name, notes)
            ends.ask(process, of: try ModuleID("x.\(name)"))
            return process
        }
    }

    private func finish() -> Bool { ends.finish(times) { [notes] in notes.append("all ended") } }

    @Test("all are asked, then SIGTERM to all that still run, then SIGKILL")
    func escalation() throws {
        let (one, two, three) = try { ($0[0], $0[1], $0[2]) }(asked("c", "b", "a"))
        // The clock does not run before all are asked.
        time.advance(by: .seconds(60))
        #expect(!finish())
        #expect(notes.values == ["c asked", "b asked", "a asked"])
        one.end()
        time.advance(by: .milliseconds(9999))
        #expect(notes.values.count == 3)
        #expect(ends.modules.map(\.text) == ["x.b", "x.a"])
        time.advance(by: .milliseconds(1))
        #expect(
            notes.values.suffix(2) == [
                "b SIGTERM after 10.0 seconds", "a SIGTERM after 10.0 seconds",
            ])
        two.end()
        time.advance(by: .seconds(2))
        #expect(notes.values.last == "a SIGKILL")
        three.end()
        #expect(notes.values.last == "all ended")
        #expect(notes.values.count == 7)
        #expect(finish())
        #expect(time.pendingAlarms == 0)
    }

    @Test("nothing is waited for when all have ended before, or when there was none")
    func none() throws {
        #expect(finish())
        for process in try asked("a", "b") { process.end() }
        #expect(finish())
        #expect(time.pendingAlarms == 0)
        #expect(notes.values == ["a asked", "b asked"])
    }

    @Test("one that is asked late has what is left of the time")
    func late() throws {
        _ = try asked("a")
        #expect(!finish())
        time.advance(by: .seconds(9))
        let late = try asked("b")
        #expect(!finish())
        time.advance(by: .seconds(1))
        #expect(notes.values.filter { $0.contains("SIGTERM") }.count == 2)
        let last = try asked("c")
        #expect(notes.values.suffix(2) == ["c asked", "c SIGTERM after 10.0 seconds"])
        time.advance(by: .seconds(2))
        #expect(notes.values.suffix(3) == ["a SIGKILL", "b SIGKILL", "c SIGKILL"])
        withExtendedLifetime((late, last)) {}
    }

    @Test("when all have ended, the next ones have a clock of their own")
    func again() throws {
        let first = try asked("a")
        #expect(!finish())
        time.advance(by: .seconds(11))
        for process in first { process.end() }
        let second = try asked("b")
        #expect(!finish())
        time.advance(by: .seconds(9))
        #expect(!notes.values.contains { $0.hasPrefix("b SIGTERM") })
        for process in second { process.end() }
        #expect(notes.values.count { $0 == "all ended" } == 2)
    }

    @Test("a time that is over after its phase changes nothing")
    func stale() {
        var state = ProcessEndState()
        #expect(state.apply(.ask(1)) == [.ask(1)])
        #expect(state.apply(.start(times)) == [.wait(.seconds(10), .asked)])
        #expect(state.apply(.start(times)) == [])
        #expect(
            state.apply(.timeUp(.asked)) == [.terminate([1]), .wait(.seconds(2), .terminating)])
        #expect(state.apply(.timeUp(.asked)) == [])
        #expect(state.apply(.ended(2)) == [])
        #expect(state.apply(.ended(1)) == [.finish])
        #expect(state.apply(.timeUp(.terminating)) == [])
        #expect(state == ProcessEndState())
    }
}
