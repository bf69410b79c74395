import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Holds of modules that are overdue, and handlers that make them so.
@Suite("Holds of late modules", .timeLimit(.minutes(10)))
struct HoldOverdueTests {
    private func rejoined(_ id: String, _ test: HostUnderTest) async {
        _ = await test.recorder.first {
            $0.module == id && $0.message.contains("responsive again")
        }
        await test.calm()
    }

    @Test("a stop does not wait for the handler of a late module; it runs when that is back")
    func handlerOfLate() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.when("a background") { module in
            try shelf.take("upload", module) { probe.note("a expiry") }
            probe.note("a is stuck")
            door.pass()
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("a is stuck")
        // It becomes overdue, and its hold runs out soon after.
        test.time.advance(by: .seconds(13))
        await probe.reached("b terminate")
        #expect(test.holds == [])
        #expect(!probe.entries.contains("a expiry"))
        door.open()
        #expect(await test.end() == .stopped)
        await probe.reached("a deinit")
        #expect(
            probe.entries("a").suffix(3) == ["a expiry", "a terminate", "a deinit"])
    }

    @Test("a handler that gets stuck makes its module late, and the stop goes on without it")
    func stuckHandler() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.when("a background") { module in
            try shelf.take("upload", module) {
                probe.note("a expiry")
                door.pass()
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await test.pass(.seconds(9))
        test.time.advance(by: .seconds(1))
        await probe.reached("a expiry")
        #expect(test.holds == ["x.a background: upload, 0ns left"])
        test.overrun()
        await probe.reached("b terminate")
        #expect(test.holds == [])
        #expect(!probe.entries.contains("a terminate"))
        door.open()
        #expect(await test.end() == .stopped)
        await probe.reached("a deinit")
        #expect(probe.entries("terminate") == ["b terminate", "a terminate"])
        #expect(probe.entries("a").suffix(2) == ["a terminate", "a deinit"])
    }

    @Test(
        "a module that returns while a stop waits for another gets the end before it is released")
    func returnsMeanwhile() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.when("a background") { _ in door.pass() }
        probe.hold("b background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("a background")
        test.overrun(.seconds(10))
        await probe.reached("c background")
        door.open()
        await rejoined("x.a", test)
        #expect(probe.entries.last == "c background")
        shelf.end("upload")
        #expect(await test.end() == .stopped)
        #expect(
            probe.entries.suffix(6) == [
                "a terminate", "b terminate", "c terminate", "c deinit", "b deinit", "a deinit",
            ])
    }

    @Test(
        "a hold that a module takes late, after the others have gone, keeps it until it has ended")
    func heldLate() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.when("a background") { _ in door.pass() }
        probe.hold("a terminate", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("a background")
        test.overrun(.seconds(10))
        _ = await test.recorder.first(containing: "waiting for x.a")
        door.open()
        await rejoined("x.a", test)
        #expect(test.holds == ["x.a terminate: upload, 10s left"])
        #expect(probe.entries.contains("b deinit") && !probe.entries.contains("a deinit"))
        shelf.end("upload")
        #expect(await test.end() == .stopped)
        #expect(probe.entries.last == "a deinit")
    }

    @Test("what a module that missed the background takes in the foreground does not run out")
    func receivedInForeground() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        probe.hold("a background", as: "upload", on: shelf)
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        test.overrun()
        for kind in [EventKind.background, .foreground] { try test.deliver(kind) }
        await probe.reached("b foreground")
        door.open()
        await rejoined("x.a", test)
        #expect(probe.entries("a").suffix(2) == ["a foreground", "a activate"])
        #expect(test.holds == ["x.a background: upload"])
        shelf.end("upload")
        #expect(await test.stopped() == .stopped)
    }

    @Test("an overdue stop names late modules and those that hold, each once")
    func overdue() async throws {
        let probe = Probe()
        let shelf = HoldShelf()
        let door = Door()
        probe.hold("a terminate", as: "upload", on: shelf)
        probe.when("b terminate") { module in
            try shelf.take("sync", module)
            module.probe?.note("b is stuck")
            door.pass()
            do throws(HoldError) {
                _ = try module.context.hold("more")
            } catch {
                module.probe?.note("\(error)")
            }
        }
        let test = try await HostUnderTest(
            "a", "b", "c", top: #""deadlines": {"stop": "2s", "stopAll": "3s"}"#, probe: probe
        ).launched()
        test.host.stop(because: "the test says so")
        await probe.reached("b is stuck")
        // Late after two seconds and a bit: the holds have 0.2 s less than they would.
        test.time.advance(by: .milliseconds(1900))
        shelf.end("upload")
        test.time.advance(by: .milliseconds(300))
        await probe.reached("c terminate")
        // It has returned.
        await test.settled()
        test.time.advance(by: .milliseconds(800))
        guard case .overdue(let modules) = await test.end() else {
            Issue.record("the stop should have run out of time")
            return
        }
        #expect(modules.map(\.text) == ["x.b"])
        door.open()
        await probe.reached("there is nothing to hold: the host has ended")
    }
}
