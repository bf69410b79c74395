import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("A stop with modules that hang", .timeLimit(.minutes(10)))
struct HungStopTests {
    static let steps = ["resign-active", "background", "terminate"]

    /// A host of hung modules between healthy ones, and the doors that hold the hung ones up.
    private final class Trial {
        let test: HostUnderTest
        private let probe = Probe()
        private let doors: [Door]
        let healthy = ["first", "middle", "last"]
        /// The hung modules in slatefile order, and the step in which each hangs.
        let hung: [(name: String, step: String)]

        init(hung steps: [String]) async throws {
            hung = steps.enumerated().map { ("h\($0)", $1) }
            let half = hung.count / 2
            let names =
                ["first"] + hung[..<half].map(\.name) + ["middle"] + hung[half...].map(\.name)
                + ["last"]
            let doors = hung.map { _ in Door() }
            self.doors = doors
            for (module, door) in zip(hung, doors) {
                probe.when("\(module.name) \(module.step)") { _ in door.pass() }
            }
            test = try await HostUnderTest(
                names.map { HostUnderTest.Entry(name: $0) }, probe: probe
            ).launched()
        }

        /// Stops the host, and moves the clock for as long as a hung module has the lane.
        ///
        /// - Returns: How long it took until the last module was notified of the end.
        func stop() async -> Duration {
            let began = test.time.now()
            test.host.stop(because: "the test is over")
            for step in HungStopTests.steps {
                for module in hung where module.step == step {
                    await probe.reached("\(module.name) \(step)")
                    let id = "x.\(module.name)"
                    while !test.host.gate.lane.overdueSlots.contains(where: { $0.id?.text == id }) {
                        // Where no thread goes on without it, all is over then.
                        guard began.duration(to: test.time.now()) < .seconds(40) else { break }
                        test.time.advance(by: .milliseconds(2))
                    }
                }
            }
            _ = await test.recorder.first(containing: "waiting for ")
            return began.duration(to: test.time.now())
        }

        func received(_ name: String) -> [String] {
            probe.entries(name).suffix(3).map { String($0.split(separator: " ")[1]) }
        }

        func end() async throws {
            test.time.advance(by: .seconds(30))
            #expect(await test.end() == .overdue(try hung.map { try ModuleID("x.\($0.name)") }))
            for door in doors { door.open() }
            for module in hung { await probe.reached("\(module.name) deinit") }
        }
    }

    @Test("reaches all others in each of its three steps", arguments: [1, 3, 10, 200], steps)
    func reachesAll(count: Int, step: String) async throws {
        let trial = try await Trial(hung: Array(repeating: step, count: count))
        let time = await trial.stop()
        for name in trial.healthy { #expect(trial.received(name) == Self.steps) }
        #expect(time < .seconds(30))
        try await trial.end()
    }

    @Test("reaches all others where modules hang in each of the steps", arguments: [1, 3, 10, 200])
    func reachesAll(inEach count: Int) async throws {
        let steps = Self.steps.flatMap { Array(repeating: $0, count: count) }
        let trial = try await Trial(hung: steps)
        let time = await trial.stop()
        for name in trial.healthy { #expect(trial.received(name) == Self.steps) }
        #expect(time < .seconds(30))
        try await trial.end()
    }

    @Test("leaves one slow module its whole deadline in the last step")
    func oneInTerminate() async throws {
        let trial = try await Trial(hung: ["terminate"])
        #expect(await trial.stop() >= .seconds(10))
        try await trial.end()
    }

    @Test("waits once for a module that hangs again")
    func hangsAgain() async throws {
        let probe = Probe()
        let (first, second) = (Door(), Door())
        probe.when("b resign-active") { _ in first.pass() }
        probe.when("b terminate") { _ in second.pass() }
        let shelf = HoldShelf()
        probe.hold("c background", as: "saving", on: shelf)
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        test.host.stop(because: "test")
        await probe.reached("b resign-active")
        test.overrun(.seconds(10))
        _ = await test.recorder.first(containing: "the stop waits: x.c")
        first.open()
        _ = await test.recorder.first(containing: "responsive again")
        await test.settled()
        shelf.end("saving")
        await probe.reached("b terminate")
        test.time.advance(by: .milliseconds(30))
        await probe.reached("c terminate")
        second.open()
        #expect(await test.end() == .stopped)
    }

    @Test("drops what it does not come to in a third of its time")
    func backlog() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let door = Door()
        test.host.onLane { _, _ in door.pass() }
        for _ in 0..<20 { try test.deliver(.memoryWarning) }
        test.host.stop(because: "test")
        test.time.advance(by: .seconds(10))
        _ = await test.recorder.first {
            $0.level == .warning
                && $0.message == "what was accepted before the stop took the modules longer than "
                    + "10s, a third of deadlines.stopAll: 20 events and calls are dropped, 0 of the "
                    + "inbox left to the next host"
        }
        door.open()
        #expect(await test.end() == .stopped)
        #expect(probe.entries("memory-warning").isEmpty)
        #expect(probe.entries("terminate") == ["a terminate", "b terminate"])
    }

    @Test("delivers what was accepted before it where there is time")
    func shortBacklog() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        let door = Door()
        test.host.onLane { _, _ in door.pass() }
        for _ in 0..<20 { try test.deliver(.memoryWarning) }
        test.host.stop(because: "test")
        test.time.advance(by: .seconds(9))
        door.open()
        #expect(await test.end() == .stopped)
        #expect(probe.entries("memory-warning").count == 20)
    }

    @Test("waits for the modules that hung before for the time of one, and ends in order")
    func hungBefore() async throws {
        let probe = Probe()
        let doors = [Door(), Door()]
        for (name, door) in zip(["b", "c"], doors) {
            probe.when("\(name) memory-warning") { _ in door.pass() }
        }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.memoryWarning)
        for name in ["b", "c"] {
            await probe.reached("\(name) memory-warning")
            test.overrun()
        }
        await test.settled()
        test.host.stop(because: "test")
        let line = await test.recorder.first(containing: "unresponsive since before the stop")
        #expect(
            line.message
                == "unresponsive since before the stop: x.b, x.c; the stop waits 10s at most, "
                + "and the next host delivers the events of the inbox that are left")
        await test.settled()
        #expect(probe.entries("terminate") == ["a terminate"])
        test.time.advance(by: .milliseconds(9_999))
        await test.settled()
        #expect(!test.host.isOver)
        test.time.advance(by: .milliseconds(1))
        #expect(await test.end() == .stopped)
        #expect(test.recorder.messages.count { $0.contains("since before the stop") } == 1)
        for door in doors { door.open() }
        for name in ["b", "c"] { await probe.reached("\(name) deinit") }
    }

    @Test("notifies a module that hung before and returns in time")
    func returnsInTime() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.overrun()
        test.host.stop(because: "test")
        _ = await test.recorder.first(containing: "unresponsive since before the stop: x.b")
        door.open()
        #expect(await test.end() == .stopped)
        #expect(
            probe.entries("b").suffix(4)
                == ["b resign-active", "b background", "b terminate", "b deinit"])
    }

    @Test("leaves one behind that hangs in it, also where another hung before")
    func hangsBeforeAndIn() async throws {
        let probe = Probe()
        let doors = [Door(), Door()]
        probe.when("b memory-warning") { _ in doors[0].pass() }
        probe.when("c terminate") { _ in doors[1].pass() }
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.overrun()
        await test.settled()
        test.host.stop(because: "test")
        await probe.reached("c terminate")
        test.overrun(.seconds(10))
        _ = await test.recorder.first(containing: "waiting for x.c")
        test.time.advance(by: .seconds(30))
        #expect(await test.end() == .overdue(try ["x.b", "x.c"].map { try ModuleID($0) }))
        for door in doors { door.open() }
        for name in ["b", "c"] { await probe.reached("\(name) deinit") }
    }

    @Test("takes at most the time that its request gives it")
    func within() async throws {
        let (probe, door) = (Probe(), Door())
        probe.when("b terminate") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(.stopped, because: "test", origin: .host, within: .seconds(3))
        // A second request does not change it.
        test.host.stop(.stopped, because: "test", origin: .host, within: .seconds(60))
        await probe.reached("b terminate")
        test.time.advance(by: .seconds(3))
        #expect(await test.end() == .overdue([try ModuleID("x.b")]))
        door.open()
        await probe.reached("b deinit")
    }

    @Test("names the module that is running where none hangs")
    func busy() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let (door, inside) = (Door(), Door())
        probe.when("b terminate") { _ in inside.pass() }
        test.host.onLane { _, _ in door.pass() }
        test.host.stop(because: "test")
        test.time.advance(by: .milliseconds(29_990))
        door.open()
        await probe.reached("b terminate")
        test.time.advance(by: .milliseconds(10))
        #expect(await test.end() == .overdue([try ModuleID("x.b")]))
        inside.open()
        await probe.reached("a deinit")
    }
}

@Suite("Durable events at a stop", .timeLimit(.minutes(10)))
struct StoppedInboxTests {
    @Test("what a stop does not come to is delivered by the next host")
    func dropped() async throws {
        let (probe, folder) = (Probe(), try TemporaryFolder())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        let first = try #require(await test.accept("received"))
        await probe.reached("a \(first)#1")
        let door = Door()
        test.host.onLane { _, _ in door.pass() }
        var places: [EventPosition] = []
        for number in 0..<5 { places.append(try #require(await test.accept("\(number)"))) }
        // A line that is no event is passed in its turn, after those.
        let writer = try folder.inboxWriter()
        _ = try writer.append([Array("no".utf8)])
        while test.host.gate.lane.state.withLock(\.jobs.count) < 6 { await Task.yield() }
        test.host.stop(because: "test")
        test.time.advance(by: .seconds(10))
        door.open()
        #expect(await test.end() == .stopped)
        #expect(probe.received("a") == ["\(first)#1"])

        let again = Probe()
        let next = try await HostUnderTest.durable("a", in: folder, probe: again).launched()
        for place in places { await again.reached("a \(place)#1") }
        #expect(again.received("a") == places.map { "\($0)#1" })
        #expect(await next.stopped() == .stopped)
    }

    @Test(
        "what the inbox accepts after a stop was asked is left to the next host, for lazy modules, too"
    )
    func behindTheStop() async throws {
        let (probe, folder) = (Probe("behindTheStop"), try TemporaryFolder())
        func launched() async throws -> HostUnderTest {
            probe.when("a push") { $0.noteEvent() }
            return try await HostUnderTest(
                [
                    .init(name: "a"),
                    .init(name: "l", more: #""launch": "lazy""#, type: "LazyProbe"),
                ], folder: folder, probe: probe
            ).launched()
        }
        let test = try await launched()
        let door = Door()
        test.host.onLane { _, _ in
            probe.note("busy")
            door.pass()
        }
        await probe.reached("busy")
        let before = try #require(await test.accept("before"))
        // Another job in the list would say nothing of the event.
        func isListed(_ state: Lane.State) -> Bool {
            var jobs = state.jobs
            while let job = jobs.popFirst() {
                if (job as? EventJob)?.entry != nil { return true }
            }
            return false
        }
        while !test.host.gate.lane.state.withLock({ isListed($0) }) { await Task.yield() }
        test.host.stop(because: "test")
        var places: [EventPosition] = []
        for number in 0..<20 { places.append(try #require(await test.accept("\(number)"))) }
        door.open()
        #expect(await test.end() == .stopped)
        #expect(probe.received("a") == ["\(before)#1"])
        #expect(probe.entries.count { $0 == "l push" } == 1)

        let next = try await launched()
        #expect(await next.outcome("last") != nil)
        #expect(probe.received("a").prefix(21) == ([before] + places).map { "\($0)#1" }[...])
        #expect(probe.received("a").count == 22)
        #expect(probe.entries.count { $0 == "l push" } == 22)
        #expect(await next.stopped() == .stopped)
    }

    @Test("a module that is recreated while it catches up receives nothing again after a stop")
    func recreatedBehind() async throws {
        let (probe, folder) = (Probe("recreatedBehind"), try TemporaryFolder())
        probe.fail("b launch", times: 1)
        func launched() async throws -> HostUnderTest {
            try await HostUnderTest.durable("a", "b", in: folder, probe: probe).launched()
        }
        let failed = try await launched()
        let places = try folder.inboxWriter().append(
            (0..<600).map { HostUnderTest.push("\($0)") })
        await probe.reached("a \(places[599])#1")
        #expect(await failed.stopped() == .stopped)
        let all = probe.received("a")
        #expect(all == places.map { "\($0)#1" } && probe.received("b").isEmpty)

        let door = Door()
        let isRestarted = Guarded(false)
        probe.when("b push") { module in
            module.noteEvent()
            if probe.received("b").count == 10 { door.pass() }
        }
        let test = try await launched()
        await probe.reached("b \(all[9])")
        test.host.restart("x.b", origin: .host) { _ in }
        // The new one asks for a stop as soon as it receives something, with most of it ahead.
        let host = test.host
        probe.when("b launch") { _ in isRestarted.withLock { $0 = true } }
        probe.when("b push") { module in
            module.noteEvent()
            if isRestarted.withLock(\.self) { host.stop(because: "test") }
        }
        door.open()
        #expect(await test.end() == .stopped)
        let count = probe.received("b").count
        #expect(count > 10 && count < 600)

        probe.when("b push") { $0.noteEvent() }
        let next = try await launched()
        _ = await next.outcome("last")
        #expect(probe.received("b") == all + probe.received("a").suffix(1))
        #expect(await next.stopped() == .stopped)
    }

    @Test("what comes to the lane while the modules receive the end is delivered by the next host")
    func tooLate() async throws {
        let (probe, folder) = (Probe(), try TemporaryFolder())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        let first = try #require(await test.accept("received"))
        await probe.reached("a \(first)#1")
        let inbox = try #require(test.inbox)
        let door = Door()
        probe.when("a terminate") { _ in door.pass() }
        test.host.stop(because: "test")
        await probe.reached("a terminate")
        // As the inbox's thread does that was at it when the stop began: an event, and what needs no delivery.
        let next = try #require(inbox.progress.next)
        let (end, last) = (
            EventPosition(segment: next.segment, offset: next.offset + 100),
            EventPosition(segment: next.segment, offset: next.offset + 200)
        )
        let event = try LifecycleEvent(.push, payload: JSONValue(parsing: "{}"), origin: .host)
            .standing(at: InboxEntry(position: next, end: end, id: nil, attempt: 1, only: nil))
        inbox.progress.enter()
        test.host.enqueue([.event(event)])
        inbox.progress.enter()
        test.host.onLane { _, _ in inbox.progress.passed(to: last) }
        door.open()
        #expect(await test.end() == .stopped)
        #expect(inbox.progress.next == next)
    }
}
