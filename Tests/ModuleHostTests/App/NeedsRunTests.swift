import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Modules whose needs fail, and run again.
@Suite("Needs of running modules", .timeLimit(.minutes(10)))
struct NeedsRunTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("NeedsRunTests")

    private func entries(_ b: String = "", _ c: String = "", _ d: String = "") -> [Entry] {
        func more(_ need: String, _ rest: String) -> String {
            #""needs": ["x.\#(need)"]"# + (rest.isEmpty ? "" : ", " + rest)
        }
        return [
            Entry(name: "a"), Entry(name: "b", more: b), Entry(name: "c", more: more("b", c)),
            Entry(name: "d", more: more("c", d)),
        ]
    }

    private func restart(_ name: String, of host: HostUnderTest) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            host.host.restart("x.\(name)", origin: .host) { result in
                continuation.resume(
                    with: result.map {
                        if case .reload(let outcome) = $0 { outcome.text } else { "killed" }
                    })
            }
        }
    }

    @Test(
        "a module whose need has failed is not launched, nor is one that needs it, with the reason",
        arguments: ["init", "launch"])
    func failed(_ what: String) async throws {
        probe.fail("b \(what)")
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        let reasons = await test.statuses().map(\.reason)
        #expect(
            reasons == [
                nil, "\(what): broken", "needs x.b, which failed: \(what): broken",
                "needs x.c, which was not launched: x.b failed",
            ])
        #expect(await test.statuses().map(\.state) == [.running, .failed, .failed, .failed])
        #expect(probe.entries("launch").filter { $0 != "b launch" } == ["a launch"])
        #expect(probe.entries.contains("c init") == (what == "launch"))
        #expect(test.host.app.openInModule().health.failed.map(\.text) == ["x.b", "x.c", "x.d"])
        #expect(
            test.recorder.records.filter { $0.module == "x.c" && $0.level == .error }.map(\.message)
                == [
                    "not launched; the app continues without it: needs x.b, which failed: \(what): broken"
                ])
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("memory-warning") == ["a memory-warning"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a required one ends the app", arguments: ["init", "launch"])
    func required(_ what: String) async throws {
        probe.fail("b \(what)")
        let test = try HostUnderTest(entries("", "", #""required": true"#), probe: probe)
        try test.host.launch()
        #expect(
            await test.end()
                == .failed(
                    "required module 'x.d' was not launched: needs x.c, which was not launched: x.b failed"
                ))
    }

    @Test(
        "a need that hangs in init fails those that need it, and one that hangs in launch does not")
    func hangs() async throws {
        let doors = (Door(), Door())
        probe.when("b init") { _ in doors.0.pass() }
        let test = try HostUnderTest(entries(), probe: probe)
        async let launched = test.launched()
        await probe.reached("b init")
        test.overrun(.seconds(20))
        _ = try await launched
        #expect(
            await test.statuses()[2].reason
                == "needs x.b, which failed: init: it did not return within 20s")
        doors.0.open()
        #expect(await test.stopped() == .stopped)

        let other = Probe()
        other.when("b launch") { _ in doors.1.pass() }
        let second = try HostUnderTest(entries(), probe: other)
        async let ready = second.launched()
        await other.reached("b launch")
        second.overrun(.seconds(20))
        _ = try await ready
        #expect(await second.statuses().map(\.state) == [.running, .overdue, .running, .running])
        doors.1.open()
        #expect(await second.stopped() == .stopped)
    }

    @Test("a need that fails once it runs stops nothing")
    func failsLater() async throws {
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        test.host.onLane { app, _ in app.markFailed(app.records[1], "process", TestError()) }
        #expect(await test.statuses().map(\.state) == [.running, .failed, .running, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "when the need is restarted, by hand or by its retries, those that wait for it are launched in order",
        arguments: ["init", "launch"], [false, true])
    func returns(_ what: String, isRetried: Bool) async throws {
        let probe = Probe("returns \(what) \(isRetried)")
        probe.fail("b \(what)", times: 1)
        let test = try await HostUnderTest(
            entries(isRetried ? #""retry": true"# : ""), probe: probe
        ).launched()
        if isRetried {
            test.time.advance(by: .milliseconds(125))
        } else {
            #expect(try await restart("b", of: test) == "applied: recreated x.b")
        }
        await probe.reached("d activate")
        #expect(await test.statuses().map(\.state) == [.running, .running, .running, .running])
        #expect(
            probe.entries("activate") == ["a activate", "b activate", "c activate", "d activate"])
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(probe.entries("memory-warning").count == 4)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "one that fails by itself when its need is back is retried as it says, and holds up no other"
    )
    func failsItself() async throws {
        probe.fail("b init", times: 1)
        probe.fail("c launch", times: 1)
        var all = entries("", #""retry": true"#)
        all.append(Entry(name: "e", more: #""needs": ["x.b"]"#))
        let test = try await HostUnderTest(all, probe: probe).launched()
        #expect(await test.statuses().map(\.retryAfter) == [nil, nil, nil, nil, nil])
        #expect(try await restart("b", of: test) == "applied: recreated x.b")
        await probe.reached("e activate")
        while await test.statuses()[2].retryAfter == nil {}
        let between = await test.statuses()
        #expect(between[2].reason == "launch: broken")
        #expect(between[3].state == .failed && between[4].state == .running)
        test.time.advance(by: .milliseconds(125))
        await probe.reached("d activate")
        #expect(await test.statuses().map(\.state).allSatisfy { $0 == .running })
        #expect(await test.stopped() == .stopped)
    }

    /// A host whose module `b` has failed, and so `count` others: of each two, the second needs the first.
    private func waiting(_ count: Int, _ other: Probe? = nil) async throws -> HostUnderTest {
        if other == nil { probe.fail("b init", times: 1) }
        let more = (0..<count).map { number in
            Entry(
                name: "m\(number)",
                more: #""needs": ["x.\#(number % 2 == 0 ? "b" : "m\(number - 1)")"]"#)
        }
        return try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b")] + more, probe: other ?? probe
        ).launched()
    }

    /// The statuses once no module waits for `b` any more.
    private func statusesAfterReturn(_ host: HostUnderTest) async -> [ModuleStatus] {
        while true {
            let all = await host.statuses()
            if all.allSatisfy({ $0.reason?.contains("x.b") != true }) { return all }
        }
    }

    private func reloads(of host: HostUnderTest, _ what: String) -> Int {
        host.recorder.records.count { $0.message.hasPrefix(what) }
    }

    @Test("a thousand that wait for one need return, each once and in order")
    func manyReturn() async throws {
        let count = 1000
        let test = try await waiting(count)
        #expect(try await restart("b", of: test) == "applied: recreated x.b")
        await probe.reached("m\(count - 1) activate")
        let waited = (0..<count).map { "m\($0)" }
        for step in ["init", "launch", "activate"] {
            #expect(probe.entries(step).suffix(count) == waited.map { "\($0) \(step)" })
        }
        #expect(probe.entries("init").count == count + 3)
        // That of `b`.
        #expect(reloads(of: test, "slatefile applied") == 1)
        #expect(reloads(of: test, "reload rolled back") == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "where some of many that return fail, these are left out, and all others run",
        arguments: [
            [0], [63], [37], [99], [10, 11, 50], Array(0..<100),
            Array(stride(from: 1, to: 100, by: 2)),
            Array(stride(from: 1, to: 100, by: 6)),
        ], ["init", "launch"])
    func someFail(failing: [Int], step: String) async throws {
        let count = 100
        let probe = Probe("someFail \(failing) \(step)")
        probe.fail("b init", times: 1)
        for number in failing { probe.fail("m\(number) \(step)") }
        let test = try await waiting(count, probe)
        #expect(try await restart("b", of: test) == "applied: recreated x.b")
        let failed = Set(failing.filter { !($0 % 2 == 1 && failing.contains($0 - 1)) })
        let waiting = Set(failed.filter { $0 % 2 == 0 }.map { $0 + 1 })
        let all = await statusesAfterReturn(test)
        for (number, status) in all.dropFirst(2).enumerated() {
            if failed.contains(number) {
                #expect(status.reason == "\(step): broken")
            } else if waiting.contains(number) {
                #expect(
                    status.reason
                        == "needs x.m\(number - 1), which failed: \(step): broken")
            } else {
                #expect(status.state == .running)
            }
        }
        #expect(reloads(of: test, "reload rolled back") == 0)
        #expect(probe.entries("init").count == count + 3 - waiting.count)
        let isUp = test.host.app.openInModule().metrics.withLock { $0.modulesRunning }
        #expect(isUp == count + 2 - failed.count - waiting.count)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one whose need has failed cannot be restarted, nor added")
    func refused() async throws {
        probe.fail("b init")
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        #expect(
            try await restart("c", of: test)
                == "undone: module 'x.c' needs x.b, which failed: init: broken")
        let more = entries() + [Entry(name: "e", more: #""needs": ["x.a", "x.b"]"#)]
        #expect(
            try await test.reload(more).text
                == "undone: module 'x.e' needs x.b, which failed: init: broken")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a slatefile that no longer says that it needs the failed one launches it")
    func needsNoLonger() async throws {
        probe.fail("b init")
        let test = try await HostUnderTest(entries(), probe: probe).launched()
        let free = [Entry(name: "a"), Entry(name: "b"), Entry(name: "c"), Entry(name: "d")]
        #expect(try await test.reload(free).text == "applied: adjusted x.c, x.d")
        await probe.reached("d activate")
        #expect(
            await test.statuses().map(\.state) == [.running, .failed, .running, .running])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a slatefile that takes a needed module away is refused")
    func takenAway() {
        #expect(throws: SlatefileError.self) {
            try HostUnderTest.slatefile(
                [Entry(name: "a"), Entry(name: "c", more: #""needs": ["x.b"]"#)], probe: probe)
        }
    }

    @Test("ten thousand that need one failed module fail with it")
    func many() async throws {
        probe.fail("b init")
        let count = 10_000
        let more = (0..<count).map { number in
            Entry(
                name: "m\(number)",
                more: #""needs": ["x.\#(number == 0 ? "b" : "m\(number - 1)")"]"#)
        }
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b")] + more, probe: probe
        ).launched()
        let reasons = await test.statuses().map(\.reason)
        #expect(reasons[2] == "needs x.b, which failed: init: broken")
        #expect(reasons.last == "needs x.m9998, which was not launched: x.b failed")
        #expect(await test.stopped() == .stopped)
    }

    // MARK: Services

    @Test(
        "two providers of one service end the launch, whatever the second makes of the error",
        arguments: ["init", "launch"])
    func twoProviders(_ step: String) async throws {
        for name in ["a", "b"] {
            probe.when("\(name) \(step)") { module in
                try? module.context.services.register((any Wanted).self) { WantedThing(number: 1) }
            }
        }
        let test = try HostUnderTest("a", "b", probe: probe)
        try test.host.launch()
        #expect(
            await test.end()
                == .failed(
                    "invalid services: x.b: 'Wanted' is provided already by x.a; provide it once"))
    }

    @Test("a withdrawn service is gone, and can be registered again, by any module")
    func withdrawn() async throws {
        let test = try await HostUnderTest(
            [Entry(name: "a", type: "CallProbe"), Entry(name: "b")], probe: probe
        ).launched()
        let first = try await test.asFirst { module in
            let services = module.context.services
            #expect(!services.withdraw((any Wanted).self))
            try services.register((any Wanted).self) { WantedThing(number: 1) }
            let wanted = try services.resolve((any Wanted).self)
            #expect(services.withdraw((any Wanted).self))
            #expect(!services.provides((any Wanted).self))
            #expect(!services.withdraw((any Wanted).self))
            #expect(throws: ServiceError.self) { try services.resolve((any Wanted).self) }
            return "\(wanted.number)"
        }
        #expect(first == "1")
        probe.when("b memory-warning") { module in
            try module.context.services.register((any Wanted).self) { WantedThing(number: 2) }
        }
        try test.deliver(.memoryWarning)
        let second = try await test.asFirst { module in
            let services = module.context.services
            // It is another module's.
            #expect(!services.withdraw((any Wanted).self))
            return "\(try services.resolve((any Wanted).self).number)"
        }
        #expect(second == "2")
        #expect(await test.stopped() == .stopped)
    }
}

private protocol Wanted: Sendable { var number: Int { get } }

private struct WantedThing: Wanted { let number: Int }
