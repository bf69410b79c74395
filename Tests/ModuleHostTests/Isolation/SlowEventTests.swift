import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Slow answers of a module in a process of its own to events: no other module waits for them.
@Suite("Modules of other processes: events that take long", .timeLimit(.minutes(10)))
struct SlowEventTests {
    private let probe = Probe("SlowEventTests")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        probe.when("c push") { $0.noteEvent() }
    }

    /// A program that answers a push when the file of its id is there, and writes down what it has begun.
    private func entry(
        _ more: String = "", version: Int = 1, hearing events: [EventKind] = Self.heard
    ) -> HostUnderTest.Entry {
        let names = events.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        let declared =
            #","events":[\#(names)],"topics":["t"],"#
            + #""routes":[{"pattern":"hello","access":"public"}]"#
        let cases = """
            *'"event":"push"'*)
                name=${line#*'"id":"'} name=${name%%'"'*}
                case $line in *'"repeated":true'*) again=' again' ;; *) again= ;; esac
                echo "$name$again" >>begun
                while [ ! -e "$name" ]; do [ ! -e "$name.dies" ] || { rm "$name.dies"; exit 1; }; done
                result='{"fetch":"newData"}' ;;
            *'"event":"message"'*) echo message >>begun; result=null ;;
            *'"event":"open-url"'*) echo url >>begun; result='{"claimed":true}' ;;
            *'"event":"launch"'*) echo >"launched-\(version)"; result=null ;;
            *'"event":"background"'*) echo background >>begun; result=null ;;
            *'"event":"terminate"'*) echo "terminate \(version)" >>begun; result=null ;;
            *'"action":"hello"'*) result='"hello"' ;;
            """
        return HostUnderTest.Entry(
            name: "b", more: more,
            command: ShellModule.command(
                "x.b", declaring: declared, start: "cd '\(folder.path)'", cases: cases,
                end: #"case $line in *'"method":"shutdown"'*) exit 0 ;; esac"#)
                + ["version \(version)"])
    }

    private static let heard: [EventKind] = [
        .launch, .push, .message, .background, .resignActive, .terminate, .openURL,
    ]

    private func entries(_ entry: HostUnderTest.Entry) -> [HostUnderTest.Entry] {
        [HostUnderTest.Entry(name: "a", type: "CallProbe"), entry, HostUnderTest.Entry(name: "c")]
    }

    private func launched(
        _ more: String = "", hearing events: [EventKind] = Self.heard,
        in state: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            entries(entry(more, hearing: events)), top: #""schemes": ["t"]"#,
            folder: state ?? folder,
            processes: .quick, probe: probe
        ).launched()
    }

    /// Returns the events that the program has begun, after a wait for this number of them.
    private func begun(_ count: Int) async throws -> [String] {
        let deadline = ContinuousClock.now + HostProcess.patience
        while true {
            let text = fileExists(folder.path("begun")) ? try folder.text(of: "begun") : ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count || .now > deadline { return lines }
            await Task.yield()
        }
    }

    private func expectBegun(
        _ lines: [String], at location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await begun(lines.count)
        #expect(found == lines, sourceLocation: location)
    }

    private func answer(_ names: String...) throws {
        for name in names { try folder.write("", to: name) }
    }

    /// Waits until the last module has received so many pushes.
    private func heard(_ count: Int) async {
        while probe.received("c").count < count { await Task.yield() }
    }

    /// Waits until the lane is in the program's module.
    private func entered(_ host: HostUnderTest) async {
        let lane = host.host.gate.lane
        while lane.slot(lane.ownership.slot)?.id?.text != "x.b" { await Task.yield() }
    }

    private func outcome(_ id: String, _ host: HostUnderTest) -> Task<String, Never> {
        Task {
            guard case .done(let outcome) = await host.outcome(id) else { return "not done" }
            let late = outcome.overdue > 0 ? ", \(outcome.overdue) unresponsive" : ""
            return "\(outcome.delivered) modules, \(outcome.fetch?.rawValue ?? "no result")\(late)"
        }
    }

    @Test(
        "others are called and hear the next events meanwhile, and the outcome waits for the answer"
    )
    func others() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        try await expectBegun(["one"])
        let second = outcome("two", host)
        await heard(2)
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        #expect(await host.statuses().allSatisfy { $0.state == .running })
        #expect(host.host.lastHealth.withLock(\.self)?.overdue == [])
        #expect(host.recorder.records.allSatisfy { $0.event != "push" })
        // The second one waits for the answer to the first.
        try await expectBegun(["one"])
        try answer("two", "one")
        #expect(await first.value == "2 modules, newData")
        #expect(await second.value == "2 modules, newData")
        try await expectBegun(["one", "two"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("what it does not listen to does not wait for it, and a URL is asked of it in its turn")
    func unconcerned() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        _ = try await begun(1)
        try host.deliver(.message, #"{"topic": "other"}"#)
        let other = await host.recorder.first { $0.event == "message" }
        #expect(other.message == "1 module")
        try host.deliver(.message, #"{"topic": "t"}"#)
        try answer("one")
        #expect(await first.value == "2 modules, newData")
        try await expectBegun(["one", "message"])
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "one that never answers is unresponsive after its deadline, and is killed at the limit and told again"
    )
    func never() async throws {
        let host = try await launched(#""deadline": "2s", "killAfter": "3s""#)
        let first = outcome("one", host)
        _ = try await begun(1)
        let second = outcome("two", host)
        await heard(2)
        host.time.advance(by: .milliseconds(1900))
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        #expect(await host.statuses()[1].state == .running)
        host.time.advance(by: .milliseconds(100))
        #expect(await first.value == "1 modules, failed, 1 unresponsive")
        #expect(await second.value == "1 modules, failed, 1 unresponsive")
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        let end = await host.recorder.first { $0.message.contains("was killed") }
        #expect(end.message.contains("did not answer 'event' within 3s, and was killed"))
        try answer("one", "two")
        _ = await host.recorder.first { $0.message.hasPrefix("responsive again") }
        try await expectBegun(["one", "one again", "two"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that ends in an event is started again and receives it once more; others go on")
    func dies() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        _ = try await begun(1)
        try answer("one.dies")
        try await expectBegun(["one", "one again"])
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        try answer("one")
        #expect(await first.value == "1 modules, failed, 1 unresponsive")
        _ = await host.recorder.first { $0.message.hasPrefix("responsive again") }
        #expect(await host.call("x.b", "hello") == #""hello""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a stop waits for the answers to what was accepted before it")
    func stop() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        _ = try await begun(1)
        _ = await host.accept("two")
        await heard(2)
        try host.deliver(.message, #"{"topic": "t"}"#)
        await host.settled()
        async let end = host.stopped()
        _ = await host.recorder.first { $0.message.hasPrefix("stopping") }
        await host.settled()
        try answer("one", "two")
        #expect(await end == .stopped)
        try await expectBegun(["one", "two", "message", "background", "terminate 1"])
    }

    @Test("a third of its time later it leaves the rest to the next host, which tells it alone")
    func stopInTime() async throws {
        let host = try await launched(#""deadline": "1m""#)
        _ = await host.accept("one")
        _ = try await begun(1)
        for name in ["two", "three"] { _ = await host.accept(name) }
        try host.deliver(.message, #"{"topic": "t"}"#)
        await heard(3)
        await host.settled()
        async let end = host.stopped()
        _ = await host.recorder.first { $0.message.hasPrefix("stopping") }
        await host.settled()
        host.time.advance(by: .seconds(10))
        let left = await host.recorder.first { $0.message.hasPrefix("what was accepted before") }
        #expect(
            left.message.hasSuffix(
                "1 events are dropped, 2 of the inbox left to the next host"), "\(left.message)")
        try answer("one")
        #expect(await end == .stopped)
        try await expectBegun(["one", "background", "terminate 1"])

        try answer("two", "three")
        let next = try await launched()
        #expect(try await begun(5).dropFirst(3) == ["two", "three"])
        #expect(await next.stopped() == .stopped)
        #expect(probe.received("c").count == 3)
    }

    @Test("a host that dies leaves the event that is not answered, and those behind it")
    func hostDies() async throws {
        let host = try await launched()
        _ = await host.accept("one")
        _ = try await begun(1)
        _ = await host.accept("two")
        await heard(2)
        await host.settled()
        let left = try folder.copied()
        try answer("one", "two")
        #expect(await host.stopped() == .stopped)
        let next = try await launched(in: left)
        #expect(try await begun(6).suffix(2) == ["one again", "two"])
        #expect(await next.stopped() == .stopped)
    }

    @Test("one that is replaced answers first, and the new one receives what waited")
    func replaced() async throws {
        let host = try await launched()
        let first = outcome("one", host)
        _ = try await begun(1)
        let second = outcome("two", host)
        await heard(2)
        async let reload = host.reload(
            entries(entry(version: 2)), top: #""schemes": ["t"]"#
        )
        while !fileExists(folder.path("launched-2")) { await Task.yield() }
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        try answer("one", "two")
        #expect(try await reload.text == "applied: recreated x.b")
        #expect(await first.value == "2 modules, newData")
        #expect(await second.value.hasPrefix("2 modules"))
        #expect(await host.stopped() == .stopped)
        #expect(try await begun(4).prefix(4) == ["one", "two", "background", "terminate 1"])
    }

    @Test("one that is removed while it hangs is killed at its limit, and not started again")
    func removed() async throws {
        let host = try await launched(#""deadline": "2s", "killAfter": "3s""#)
        let first = outcome("one", host)
        _ = try await begun(1)
        let all = entries(entry())
        async let reload = host.reload([all[0], all[2]], top: #""schemes": ["t"]"#)
        await host.settled()
        host.time.advance(by: .seconds(2))
        #expect(await first.value == "1 modules, failed, 1 unresponsive")
        host.time.advance(by: .seconds(1))
        #expect(
            try await reload.text
                == "applied: removed x.b; 1 undelivered event becomes a dead letter")
        #expect(try await begun(1) == ["one"])
        #expect(host.recorder.records.allSatisfy { !$0.message.contains("it is started again") })
        #expect(await host.stopped() == .stopped)
    }

    @Test("one that hears no event of the stop is told again what it had not answered by then")
    func stopUnheard() async throws {
        let host = try await launched(#""deadline": "1m""#, hearing: [.launch, .push])
        _ = await host.accept("one")
        _ = try await begun(1)
        async let end = host.stopped()
        _ = await host.recorder.first { $0.message.hasPrefix("stopping") }
        await host.settled()
        host.time.advance(by: .seconds(10))
        // It is in the lane's hand, at last.
        await entered(host)
        host.time.advance(by: .seconds(30))
        #expect(await end == .overdue([try ModuleID("x.b")]))

        try answer("one")
        let next = try await launched(hearing: [.launch, .push])
        try await expectBegun(["one", "one again"])
        #expect(await next.stopped() == .stopped)
    }

    @Test("messages that it does not hear do not wait for it, however many they are")
    func unheard() async throws {
        let host = try await launched(#""backlog": 10"#)
        let first = outcome("one", host)
        _ = try await begun(1)
        for _ in 0..<50 { try host.deliver(.message, #"{"topic": "other"}"#) }
        #expect(try await host.asFirst { _ in "reached" } == "reached")
        await host.settled()
        #expect(host.recorder.records.count { $0.event == "message" } == 50)
        try answer("one")
        #expect(await first.value == "2 modules, newData")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a URL waits for what it has to answer for the time of one event")
    func searched() async throws {
        let host = try await launched(#""deadline": "1m""#)
        for name in ["one", "two", "three"] { _ = await host.accept(name) }
        _ = try await begun(1)
        await heard(3)
        await host.settled()
        async let url = host.open("t://x")
        await entered(host)
        host.time.advance(by: .seconds(6))
        try answer("one", "two")
        // It ends there, and the module receives it in its turn.
        let outcome = await url
        #expect(outcome.contains("unresponsive"), "\(outcome)")
        try answer("three")
        try await expectBegun(["one", "two", "three", "url"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("more messages than may wait for it all arrive: then the lane waits")
    func many() async throws {
        let host = try await launched(#""backlog": 10"#)
        _ = await host.accept("one")
        _ = try await begun(1)
        for _ in 0..<50 { try host.deliver(.message, #"{"topic": "t"}"#) }
        try answer("one")
        await host.settled()
        await host.answered()
        #expect(await host.stopped() == .stopped)
        #expect(try await begun(53).count { $0 == "message" } == 50)
    }
}
