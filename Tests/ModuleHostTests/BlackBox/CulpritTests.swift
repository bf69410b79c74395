import TestSupport
import Testing

@testable import ModuleHostCore

/// The box is read while a module stands before a door: what the next host would read if this one died
/// at that instant.
@Suite("The black box of a host", .timeLimit(.minutes(10)))
struct CulpritTests {
    private static let noModule = "the last host died while no module was running"

    private let probe: Probe
    private let box: BlackBoxFolder

    init() throws {
        box = try BlackBoxFolder()
        probe = Probe(box.folder.path)
    }

    private func host(_ names: String...) throws -> HostUnderTest {
        try HostUnderTest(
            names.map { HostUnderTest.Entry(name: $0) }, blackBox: box.box, probe: probe)
    }

    /// Has module `caller` send something to module `called` alone, which then stands before the door.
    private func letting(
        _ called: String, standBefore door: Door, _ note: String = "called"
    ) -> Probe.Act {
        { [probe] module in
            _ = module.context.center.send(to: (any MessageResponder).self) { responder in
                guard (responder as? ProbeModule)?.name == called else { return }
                probe.note("\(called) \(note)")
                door.pass()
            }
        }
    }

    @Test("names the module that handles an event, and none before and after")
    func event() async throws {
        let door = Door()
        probe.when("b push") { _ in door.pass() }
        let test = try await host("a", "b", "c").launched()
        await test.settled()
        #expect(box.lastWords == Self.noModule)
        try test.deliver(.push, #"{"aps": {}}"#)
        await probe.reached("b push")
        #expect(box.lastWords == "the last host died while 'x.b' handled 'push'")
        box.box.setInHand(EventPosition(segment: 3, offset: 4096), attempt: 2)
        #expect(
            box.lastWords
                == "the last host died while 'x.b' handled 'push' (inbox 3:4096, attempt 2)")
        door.open()
        await test.settled()
        #expect(box.lastWords == Self.noModule)
        #expect(await test.stopped() == .stopped)
        #expect(box.lastWords == Self.noModule)
    }

    @Test("an event in hand is not said of what is no event")
    func noEvent() async throws {
        let door = Door()
        let test = try await host("a", "b").launched()
        box.box.setInHand(EventPosition(segment: 3, offset: 4096), attempt: 2)
        test.host.onLane { [probe] app, thread in
            _ = app.gate.call(app.records[1].slot, on: thread) {
                probe.note("b called")
                door.pass()
            }
        }
        await probe.reached("b called")
        #expect(box.lastWords == "the last host died while 'x.b' was running, outside events")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("names the innermost of modules that call each other, then its callers")
    func nested() async throws {
        let door = Door()
        probe.when("a background") { module in
            _ = module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
        }
        probe.when("b ping", letting("c", standBefore: door))
        let test = try await host("a", "b", "c").launched()
        try test.deliver(.background)
        await probe.reached("c called")
        #expect(
            box.lastWords
                == "the last host died while 'x.c' was running, called by 'x.b', "
                + "called by 'x.a', in 'background'")
        #expect(box.contents?.outermost?.text == "x.a")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("after a takeover names who goes on, with callers of its own, and all that are late")
    func takeover() async throws {
        let doors = [Door(), Door()]
        probe.when("a background") { module in
            _ = module.context.center.send(to: (any PingResponder).self) { try $0.ping("x") }
        }
        probe.when("b ping", letting("c", standBefore: doors[0]))
        probe.when("d background", letting("e", standBefore: doors[1]))
        let test = try await host("a", "b", "c", "d", "e").launched()
        try test.deliver(.background)
        await probe.reached("c called")
        test.overrun()
        await probe.reached("e called")
        #expect(
            box.lastWords
                == "the last host died while 'x.e' was running, called by 'x.d', "
                + "in 'background'; unresponsive: x.a, x.b, x.c")
        doors[1].open()
        await test.settled()
        #expect(box.lastWords == Self.noModule + "; unresponsive: x.a, x.b, x.c")
        doors[0].open()
        for id in ["x.a", "x.b", "x.c"] {
            _ = await test.recorder.first {
                $0.module == id && $0.message.contains("responsive again")
            }
        }
        #expect(box.lastWords == Self.noModule)
        #expect(await test.stopped() == .stopped)
    }

    @Test("each takeover has its stack in the box, however many there have been")
    func manyTakeovers() async throws {
        let test = try await host("a", "b", "c").launched()
        for round in 1...BlackBoxLayout.stacks + 3 {
            let door = Door()
            probe.when("b memory-warning", letting("c", standBefore: door, "in \(round)"))
            try test.deliver(.memoryWarning)
            await probe.reached("c in \(round)")
            #expect(
                box.lastWords
                    == "the last host died while 'x.c' was running, called by 'x.b', "
                    + "in 'memory-warning'")
            test.overrun()
            await test.settled()
            let start = test.recorder.records.count
            door.open()
            for id in ["x.b", "x.c"] {
                _ = await test.recorder.first(from: start) {
                    $0.module == id && $0.message.contains("responsive again")
                }
            }
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("names a module that is made, and one that is made too long as late")
    func making() async throws {
        let doors = [Door(), Door()]
        probe.when("b init") { _ in doors[0].pass() }
        probe.when("c init") { _ in doors[1].pass() }
        let test = try host("a", "b", "c")
        try test.host.launch()
        await probe.reached("b init")
        #expect(box.lastWords == "the last host died while 'x.b' was being created")
        test.overrun(.seconds(20))
        await probe.reached("c init")
        #expect(
            box.lastWords == "the last host died while 'x.c' was being created; unresponsive: x.b")
        doors[1].open()
        doors[0].open()
        await probe.reached("a activate")
        await probe.reached("b deinit")
        await test.caughtUp()
        #expect(await test.stopped() == .stopped)
        #expect(box.lastWords == Self.noModule)
    }

    @Test("what is done after a module that was made too long is not said to be making")
    func afterMaking() async throws {
        let (probe, doors) = (probe, [Door(), Door()])
        probe.when("b init") { module in
            try module.context.startup("feed", priority: .high) {
                1
            } then: { _ in
                probe.note("b feed")
                doors[0].pass()
            }
        }
        probe.when("c init") { _ in doors[1].pass() }
        let test = try host("a", "b", "c")
        try test.host.launch()
        await probe.reached("c init")
        test.overrun(.seconds(20))
        await probe.reached("b feed")
        #expect(
            box.lastWords
                == "the last host died while 'x.b' was running, outside events; unresponsive: x.c")
        for door in doors { door.open() }
        await probe.reached("a activate")
        #expect(await test.stopped() == .stopped)
    }

    @Test("names a module that is let go")
    func release() async throws {
        let door = probe.close("b deinit")
        let test = try await host("a", "b").launched()
        test.host.stop(because: "the test is over")
        await probe.reached("b deinit")
        #expect(box.lastWords == "the last host died while 'x.b' was being released")
        door.open()
        #expect(await test.end() == .stopped)
        #expect(box.lastWords == Self.noModule)
    }

    @Test("a start-up task is its module's, whatever its name")
    func startupOfAnother() async throws {
        let (probe, door) = (probe, Door())
        probe.when("b init") { module in
            try module.context.startup("x.a/index") {
                probe.note("b index")
                door.pass()
            }
            try module.context.startup("next", after: ["x.b/x.a/index"]) {}
        }
        let test = try await host("a", "b").launched()
        await probe.reached("b index")
        #expect(box.lastWords == Self.noModule + "; work off the lane ran: x.b")
        door.open()
        _ = await test.recorder.first(containing: "start-up task x.b/x.a/index succeeded")
        _ = await test.recorder.first(containing: "start-up task x.b/next succeeded")
        #expect(box.lastWords == Self.noModule)
        #expect(await test.stopped() == .stopped)
    }

    @Test("the start-up task of a module that was made anew is over when it has ended")
    func startupOfFormer() async throws {
        let (probe, door) = (probe, Door())
        probe.when("b init") { module in
            try module.context.startup("index") {
                probe.note("b index")
                door.pass()
            }
        }
        let test = try await host("a", "b").launched()
        await probe.reached("b index")
        probe.when("b init") { _ in }
        let outcome = try await test.reload([.init(name: "a"), .init(name: "b", type: "CallProbe")])
        #expect(outcome.text == "applied: recreated x.b")
        #expect(box.lastWords == Self.noModule + "; work off the lane ran: x.b")
        door.open()
        _ = await test.recorder.first(containing: "/index succeeded")
        #expect(box.lastWords == Self.noModule)
        #expect(await test.stopped() == .stopped)
    }

    @Test("names the modules whose start-up tasks run, also overdue ones, until they end")
    func startup() async throws {
        let (probe, doors) = (probe, [Door(), Door()])
        probe.when("b init") { module in
            try module.context.startup("index", deadline: .seconds(9)) {
                probe.note("b index")
                doors[0].pass()
            }
            try module.context.startup("map") {
                probe.note("b map")
                doors[1].pass()
            }
            try module.context.startup("skipped", after: ["failed"]) {}
            try module.context.startup("failed") { throw TestError() }
        }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b")], top: #""startup": {"width": 2}"#,
            blackBox: box.box, probe: probe)
        _ = try await test.launched()
        await probe.reached("b index")
        await probe.reached("b map")
        #expect(box.lastWords == Self.noModule + "; work off the lane ran: x.b")
        doors[1].open()
        _ = await test.recorder.first(containing: "start-up task x.b/failed failed")
        _ = await test.recorder.first(containing: "start-up task x.b/skipped skipped")
        #expect(box.lastWords == Self.noModule + "; work off the lane ran: x.b")
        test.time.advance(by: .seconds(10))
        _ = await test.recorder.first(containing: "x.b/index overdue")
        #expect(box.lastWords == Self.noModule + "; work off the lane ran: x.b")
        doors[0].open()
        _ = await test.recorder.first(containing: "x.b/index ended late")
        #expect(box.lastWords == Self.noModule)
        #expect(await test.stopped() == .stopped)
    }
}
