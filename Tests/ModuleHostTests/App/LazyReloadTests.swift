import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Reloads, processes and durable events of lazy modules", .timeLimit(.minutes(10)))
struct LazyReloadTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("LazyReloadTests")
    private let touch = RouteParameters(["number": "4"])

    private func lazy(_ name: String, _ more: String = "", command: [String] = []) -> Entry {
        Entry(
            name: name, more: #""launch": "lazy""# + (more.isEmpty ? "" : ", " + more),
            type: "LazyProbe", command: command)
    }

    private let eager = HostUnderTest.Entry(name: "l", type: "LazyProbe")
    private let first = HostUnderTest.Entry(name: "a", type: "CallProbe")

    private func state(_ host: HostUnderTest, _ name: String = "l") async -> ModuleStatus.State? {
        await host.statuses().first { $0.id.text == "x.\(name)" }?.state
    }

    // MARK: Reloads

    @Test("one that is not made is made when it becomes eager, and one that is made stays")
    func eagerAndLazy() async throws {
        let test = try await HostUnderTest([first, lazy("l")], probe: probe).launched()
        #expect(try await test.reload([first, eager]).text == "applied: added x.l")
        await probe.reached("l activate")
        #expect(await state(test) == .running)
        #expect(try await test.reload([first, lazy("l")]).text == "applied: adjusted x.l")
        #expect(await state(test) == .running)
        #expect(
            try await test.reload([first, lazy("l", #""idle": "30s""#)]).text
                == "applied: adjusted x.l")
        await test.settled()
        test.time.advance(by: .seconds(30))
        await probe.reached("l deinit")
        #expect(await state(test) == .onDemand)
        #expect(probe.entries("init") == ["l init"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is not made is added, changed and removed without making it")
    func notMade() async throws {
        let test = try await HostUnderTest([first], probe: probe).launched()
        #expect(try await test.reload([first, lazy("l")]).text == "applied: on demand: x.l")
        #expect(try await test.reload([first, lazy("l")]).text == "nothing changed")
        #expect(
            try await test.reload([first, lazy("l", #""backlog": 7"#)]).text
                == "applied: on demand: x.l")
        #expect(try await test.reload([first]).text == "applied: removed x.l")
        #expect(await test.call("x.l", "touch", touch).contains("no module 'x.l'"))
        #expect(try await test.reload([first, lazy("l")]).text == "applied: on demand: x.l")
        #expect(await test.call("x.l", "touch", touch) == "4")
        #expect(try await test.reload([first]).text == "applied: removed x.l")
        #expect(probe.entries("l").suffix(2) == ["l terminate", "l deinit"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that is made while the slatefiles are compared is planned as it is then",
        arguments: [false, true])
    func duringComparison(fails: Bool) async throws {
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        probe.whenLazy("l init") { _ in if fails { throw TestError() } }
        let first = Entry(name: "a")
        let test = try await HostUnderTest([first, lazy("l")], probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        async let outcome = test.reload([first, lazy("l", #""backlog": 7"#)])
        await test.waiting(1)
        async let answer = test.call("x.l", "touch", touch)
        await test.waiting(2)
        // The call is behind the job that begins the comparison, and before the one that makes a plan of it.
        door.open()
        #expect(await answer.contains(fails ? "broken" : "4"))
        #expect(try await outcome.text == "applied: adjusted x.l")
        #expect(await state(test) == (fails ? .failed : .running))
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is made during a reload has the reload begin again")
    func during() async throws {
        let door = Door()
        probe.when("n init") { _ in door.pass() }
        let test = try await HostUnderTest([first, lazy("l")], probe: probe).launched()
        async let outcome = test.reload([first, lazy("l"), Entry(name: "n")])
        await probe.reached("n init")
        async let answer = test.call("x.l", "touch", touch)
        await test.waiting(1)
        door.open()
        #expect(await answer == "4")
        #expect(try await outcome.text == "applied: added x.n")
        #expect(await state(test) == .running)
        #expect(await state(test, "n") == .running)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that a reload makes makes the lazy one that it needs")
    func needed() async throws {
        let test = try await HostUnderTest([first, lazy("l")], probe: probe).launched()
        let entries = [first, lazy("l"), Entry(name: "n", more: #""needs": ["x.l"]"#)]
        #expect(try await test.reload(entries).text == "applied: added x.l, x.n")
        #expect(probe.entries("init") == ["l init", "n init"])
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Processes

    @Test("a command is made by a call that names it, by its patterns, topics and events")
    func command() async throws {
        for what in ["name", "url", "pattern", "topic", "event"] {
            let folder = try TemporaryFolder()
            let journal = folder.path + "/journal"
            let program = [HostProcess.program("MisbehavingModule"), "good", "--journal", journal]
            let test = try await HostUnderTest(
                [
                    first,
                    lazy(
                        "b", #""provides": ["echo/:text"], "events": ["push"], "topics": ["t.*"]"#,
                        command: program),
                ], top: #""schemes": ["t"]"#, processes: .quick, probe: probe
            ).launched()
            #expect(await state(test, "b") == .onDemand)
            switch what {
            case "name":
                let parameters = RouteParameters(["text": "hi"])
                #expect(await test.call("x.b", "echo", parameters).contains("hi"))
            case "url": #expect(await test.open("t://x.b/echo/hi").contains("hi"))
            case "pattern": #expect(await test.open("t://echo/hi").contains("hi"))
            case "topic": try test.deliver(.message, #"{"topic": "t.one"}"#)
            default: try test.deliver(.push, "{}")
            }
            // Events do not wait for its process, unless they are for it.
            while await state(test, "b") != .running { await test.settled() }
            await test.answered()
            let received = try readFile(at: journal, limit: 1 << 16)
                .split(separator: UInt8(ascii: "\n"))
                .compactMap { try JSONValue(parsing: Array($0))["event"]?.string }
            #expect(received.first == "launch")
            #expect(received.count == (["topic", "event"].contains(what) ? 2 : 1), "\(what)")
            #expect(await test.stopped() == .stopped)
        }
    }

    @Test("a command that cannot be started is an answer with the reason")
    func noProgram() async throws {
        let test = try await HostUnderTest(
            [
                first,
                lazy(
                    "b", #""provides": ["echo/:text"]"#,
                    command: ["/nonexistent/program"]),
            ], top: #""schemes": ["t"]"#, probe: probe
        ).launched()
        // The first call tries to make it.
        for _ in 0..<2 {
            let answer = await test.call("x.b", "echo")
            #expect(answer.contains("x.b") && answer.contains("/nonexistent/program"))
            #expect(await state(test, "b") == .failed)
        }
        for url in ["t://x.b/other", "t://x.b/echo/hi", "t://echo/hi"] {
            #expect(await test.open(url).contains("/nonexistent/program"), "\(url)")
        }
        test.time.advance(by: .milliseconds(125))
        await test.settled()
        #expect(await state(test, "b") == .onDemand)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a Swift module in a process of its own says whether it has a timer or work")
    func pending() async throws {
        let child = try LedModule("LazyProbe", probe: probe)
        let none = try child.ask("pending", "{}")
        probe.whenLazy("a push") { $0?.context.timer(after: .seconds(3600)) {} }
        #expect(try child.notify(.push, "{}") == nil)
        let timer = try child.ask("pending", "{}")
        #expect(none.text == "null" && timer.string == "has a timer")
        try child.end()
    }

    // MARK: Durable events

    @Test("an event of the inbox makes it, also where it was accepted before the host began")
    func durable() async throws {
        let folder = try TemporaryFolder()
        let entries = [Entry(name: "a"), lazy("l")]
        let one = try await HostUnderTest([Entry(name: "a")], folder: folder, probe: probe)
            .launched()
        #expect(await one.stopped() == .stopped)
        let writer = try folder.inboxWriter()
        _ = try writer.append([HostUnderTest.push()])
        let two = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        await probe.reached("l push")
        #expect(probe.entries("l") == ["l init", "l launch", "l activate", "l push"])
        #expect(await two.stopped() == .stopped)
        let three = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        _ = await three.outcome("next")
        #expect(probe.entries("push") == ["a push", "l push", "a push", "l push"])
        #expect(await three.stopped() == .stopped)
    }

    @Test(
        "what waits for one that has failed is delivered by the next host, which makes it for that")
    func waits() async throws {
        let folder = try TemporaryFolder()
        let entries = [Entry(name: "a"), lazy("l")]
        probe.whenLazy("l init") { _ in throw TestError() }
        let one = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        _ = await one.outcome("one")
        #expect(await state(one) == .failed)
        #expect(await one.stopped() == .stopped)
        #expect(probe.entries("push") == ["a push"])
        probe.whenLazy("l init") { _ in }
        let two = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        await probe.reached("l push")
        #expect(probe.entries("push") == ["a push", "l push"])
        _ = await two.outcome("two")
        #expect(probe.entries("push") == ["a push", "l push", "a push", "l push"])
        #expect(await two.stopped() == .stopped)
    }

    @Test("what waits for one that has failed is delivered when it is tried again, without a use")
    func triedAgain() async throws {
        let folder = try TemporaryFolder()
        probe.whenLazy("l init") { _ in throw TestError() }
        let test = try await HostUnderTest(
            [Entry(name: "a"), lazy("l")], folder: folder, probe: probe
        ).launched()
        _ = await test.outcome("one")
        probe.whenLazy("l init") { _ in }
        test.time.advance(by: .milliseconds(125))
        await probe.reached("l push")
        #expect(probe.entries("l").filter { $0 == "l init" }.count == 2)
        #expect(await test.stopped() == .stopped)
    }
}
