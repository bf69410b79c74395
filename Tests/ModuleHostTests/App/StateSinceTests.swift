import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The time since when a module is in its state", .timeLimit(.minutes(10)))
struct StateSinceTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("StateSinceTests")

    @Test("it changes with the state alone")
    func changes() async throws {
        let start = WallTime.now()
        probe.fail("c init")
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest("a", "b", "c", "d", probe: probe).launched()
        let launched = await test.statuses()
        #expect(launched.map(\.state) == [.running, .running, .failed, .running])
        #expect(launched.allSatisfy { !$0.since.precedes(start) })

        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("d background")
        let hanging = await test.statuses()
        #expect(hanging[1].state == .overdue)
        #expect(launched[1].since.precedes(hanging[1].since))
        let metrics = test.host.currentMetrics
        #expect(metrics.failed.map(\.text) == ["x.c"])
        #expect(metrics.failedSince == [launched[2].since])
        #expect(metrics.overdueSince == [hanging[1].since])
        #expect(metrics.stateSince.map { launched[1].since.precedes($0) } == true)

        door.open()
        // It is noted on the lane, later than the lane knows it.
        _ = await test.recorder.first { $0.message.hasPrefix("responsive again") }
        let back = await test.statuses()
        #expect(back[1].state == .running && hanging[1].since.precedes(back[1].since))
        for place in [0, 2, 3] {
            #expect(back[place].state == launched[place].state)
            #expect(back[place].since == launched[place].since)
        }
        #expect(test.host.currentMetrics.overdueSince == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a lazy module has been on demand since the host's start, or since it was unloaded")
    func lazy() async throws {
        let modules = [
            Entry(name: "a", type: "CallProbe"),
            Entry(name: "l", more: #""launch": "lazy""#, type: "LazyProbe"),
        ]
        let test = try await HostUnderTest(modules, probe: probe).launched()
        let before = await test.statuses()[1]
        #expect(before.state == .onDemand)
        #expect(await test.call("x.l", "touch", RouteParameters(["number": "4"])) == "4")
        let made = await test.statuses()[1]
        #expect(made.state == .running && before.since.precedes(made.since))
        await withCheckedContinuation { continuation in
            test.host.unload("x.l") { _ in continuation.resume() }
        }
        let unloaded = await test.statuses()[1]
        #expect(unloaded.state == .onDemand && made.since.precedes(unloaded.since))
        #expect(await test.stopped() == .stopped)
    }
}

extension WallTime {
    fileprivate func precedes(_ other: WallTime) -> Bool {
        (seconds, nanoseconds) < (other.seconds, other.nanoseconds)
    }
}
