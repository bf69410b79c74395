import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// The steps of a stop that modules in processes of their own take long for: no other module waits for them.
@Suite("Modules of other processes: a stop", .timeLimit(.minutes(10)))
struct ProcessesInStopTests {
    private let probe = Probe("ProcessesInStopTests")
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A program that answers a step of a stop when the file for that is there, and writes down what it has begun.
    private func program(_ name: String, end: String = "", more: String = "") -> HostUnderTest.Entry
    {
        let steps = Self.steps.map {
            """
            *'"event":"\($0)"'*)
                echo "\(name) \($0)" >>begun
                \($0 == "terminate" ? end : "")
                while [ ! -e "\(name) \($0)" ]; do kill -0 $PPID || exit 1; done
                result=null ;;
            """
        }
        return HostUnderTest.Entry(
            name: name, more: more,
            command: ShellModule.command(
                "x.\(name)",
                declaring: #","events":["resign-active","background","terminate"]"#,
                start: "cd '\(folder.path)'", cases: steps.joined(separator: "\n"),
                end: #"case $line in *'"method":"shutdown"'*) exit 0 ;; esac"#))
    }

    private static let steps = ["resign-active", "background", "terminate"]

    private func launched(_ programs: HostUnderTest.Entry...) async throws -> HostUnderTest {
        try await HostUnderTest(
            [HostUnderTest.Entry(name: "a")] + programs + [HostUnderTest.Entry(name: "z")],
            processes: .quick, probe: probe
        ).launched()
    }

    /// Returns the steps that the programs have begun, after a wait for so many of them.
    private func begun(_ count: Int) async throws -> [String] {
        while true {
            let text = fileExists(folder.path("begun")) ? try folder.text(of: "begun") : ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            await Task.yield()
        }
    }

    private func answer(_ names: String...) throws {
        for name in names { try folder.write("", to: name) }
    }

    private func stopping(_ host: HostUnderTest) -> Task<AppHost.End, Never> {
        Task { await host.stopped() }
    }

    @Test("all have a step at the same time; `terminate` waits for the answers to `background`")
    func together() async throws {
        let host = try await launched(program("b"), program("c"))
        let end = stopping(host)
        #expect(try await begun(2).sorted() == ["b resign-active", "c resign-active"])
        // The modules of the host do not wait either.
        await probe.reached("z background")
        try answer("c resign-active")
        #expect(try await begun(3).last == "c background")
        try answer("b resign-active", "c background")
        #expect(try await begun(4).last == "b background")
        await host.settled()
        #expect(!probe.entries("z").contains("z terminate"))
        try answer("b background")
        #expect(try await begun(6).suffix(2).sorted() == ["b terminate", "c terminate"])
        await probe.reached("z terminate")
        await host.settled()
        #expect(!probe.entries("z").contains("z deinit"))
        try answer("c terminate", "b terminate")
        #expect(await end.value == .stopped)
        #expect(host.recorder.records.allSatisfy { $0.level < .warning })
    }

    @Test("an exit is the answer to `terminate`, of any number of them")
    func exits() async throws {
        let host = try await launched(program("b", end: "exit 0"), program("c", end: "exit 3"))
        let end = stopping(host)
        for step in Self.steps.dropLast() { try answer("b \(step)", "c \(step)") }
        #expect(await end.value == .stopped)
        #expect(try await begun(6).count == 6)
        #expect(host.recorder.records.allSatisfy { !$0.message.contains("it is started again") })
    }

    @Test(
        "one that does not answer takes no time from the others, and keeps the stop until its end")
    func hangs() async throws {
        let host = try await launched(program("b"), program("c"))
        let end = stopping(host)
        for step in Self.steps { try answer("c \(step)") }
        try answer("b resign-active")
        _ = try await begun(4)
        await host.settled()
        #expect(!probe.entries("z").contains("z terminate"))
        host.time.advance(by: .seconds(10))
        _ = await host.recorder.first { $0.message.hasPrefix("unresponsive") }
        await probe.reached("z terminate")
        #expect(try await begun(5).last == "c terminate")
        try answer("b background", "b terminate")
        #expect(await end.value == .stopped)
        #expect(try await begun(6).last == "b terminate")
    }

    @Test("one that hangs in `terminate` leaves half of the rest to release the others")
    func hangsAtEnd() async throws {
        let host = try await launched(program("b"), program("c"))
        host.host.stop(.stopped, because: "the test is over", origin: .host, within: .seconds(6))
        for step in Self.steps { try answer("c \(step)") }
        for step in Self.steps.dropLast() { try answer("b \(step)") }
        _ = try await begun(6)
        await probe.reached("z terminate")
        await host.settled()
        host.time.advance(by: .seconds(3))
        await probe.reached("z deinit")
        try answer("b terminate")
        let outcome = await host.end()
        #expect(outcome == .stopped, "\(outcome) \(host.recorder.records)")
    }

    @Test("one that has yet to answer an event from before the stop holds up no other")
    func hangsBefore() async throws {
        let host = try await launched(program("b", more: #""deadline": "2m""#))
        try host.deliver(.background)
        #expect(try await begun(1) == ["b resign-active"])
        let end = stopping(host)
        _ = await host.recorder.first { $0.message.hasPrefix("stopping") }
        await host.settled()
        // A third for what was accepted before; then the lane waits for it, as long as the stop lets it.
        while !probe.entries("z").contains("z terminate") {
            host.time.advance(by: .milliseconds(100))
            await Task.yield()
        }
        for step in Self.steps { try answer("b \(step)") }
        let hasEnded = Guarded(false)
        Task {
            _ = await end.value
            hasEnded.withLock { $0 = true }
        }
        // Its time may be over before it has read the answers.
        while !hasEnded.withLock({ $0 }) {
            host.time.advance(by: .milliseconds(100))
            await Task.yield()
        }
    }

    private func hostThatActivates() throws -> HostUnderTest {
        let names = ["b", "c"]
        let entries = names.map { name in
            HostUnderTest.Entry(
                name: name,
                command: ShellModule.command(
                    "x.\(name)", declaring: #","events":["activate"]"#,
                    start: "cd '\(folder.path)'",
                    cases: """
                        *'"event":"activate"'*)
                            echo "\(name) activate" >>begun
                            while [ ! -e "\(name) activate" ]; do kill -0 $PPID || exit 1; done
                            result=null ;;
                        """,
                    end: #"case $line in *'"method":"shutdown"'*) exit 0 ;; esac"#))
        }
        return try HostUnderTest(
            [HostUnderTest.Entry(name: "a")] + entries, processes: .quick, probe: probe)
    }

    @Test("a stop that comes before the answers to `activate` is no READY")
    func stopBeforeReady() async throws {
        let host = try hostThatActivates()
        try host.host.launch()
        _ = try await begun(2)
        try host.deliver(.memoryWarning)
        let end = stopping(host)
        _ = await host.recorder.first { $0.message.hasPrefix("stopping") }
        try answer("b activate", "c activate")
        #expect(await end.value == .stopped)
        let messages = host.recorder.records.map(\.message)
        #expect(messages.allSatisfy { !$0.hasPrefix("ready") })
        #expect(messages.contains("1 events came before READY and are not delivered"))
    }

    @Test("READY waits for the answers to `activate`, which all give at the same time")
    func activate() async throws {
        let host = try hostThatActivates()
        async let launched = host.launched()
        #expect(try await begun(2).sorted() == ["b activate", "c activate"])
        try answer("c activate")
        await host.settled()
        #expect(host.recorder.records.allSatisfy { !$0.message.hasPrefix("ready") })
        try answer("b activate")
        _ = try await launched
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that is killed from outside in a step is started again and receives it once more")
    func dies() async throws {
        let host = try await launched(program("b"), program("c"))
        let end = stopping(host)
        for step in Self.steps { try answer("c \(step)") }
        // The other one may have begun two by then.
        while try await !begun(1).contains("b resign-active") { await Task.yield() }
        let process = await host.statuses()[1].process?.processID
        kill(try #require(process), SIGKILL)
        for step in Self.steps { try answer("b \(step)") }
        #expect(await end.value == .stopped)
        #expect(
            try await begun(7).filter { $0.hasPrefix("b") }
                == ["b resign-active"] + Self.steps.map { "b \($0)" })
    }
}
