import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("WatchdogAnswer", .timeLimit(.minutes(10)))
struct WatchdogAnswerTests {
    @Test(
        "when answers are asked for",
        arguments: [
            ([:], nil), (["WATCHDOG_USEC": "60000000"], .seconds(30)),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "47"], .seconds(30)),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "48"], nil),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": ""], nil),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil),
            (["WATCHDOG_USEC": "1s"], nil), (["WATCHDOG_USEC": "1"], .milliseconds(1)),
        ] as [([String: String], Duration?)])
    func interval(environment: [String: String], interval: Duration?) {
        #expect(WatchdogAnswer.interval(environment, processID: 47) == interval)
    }

    @Test("once in each interval, as long as the lane comes round and the host is healthy")
    func answers() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest(
            "a", "b", top: #""deadlines": {"event": "5s"}"#, probe: probe
        ).launched()
        let folder = try TemporaryFolder()
        let manager = try NotifyReceiver(at: folder.path("notify"))
        let environment = ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "60000000"]
        let notifier = ReadinessNotifier(
            environment: environment, log: test.recorder.log, time: test.time)
        let watchdog = try #require(
            WatchdogAnswer(
                for: test.host, environment: environment, through: notifier, log: test.recorder.log)
        )
        watchdog.start()
        for _ in 0..<3 {
            #expect(try manager.next() == "WATCHDOG=1")
            await test.settled()
            #expect(manager.all() == [])
            test.time.advance(by: .seconds(30))
        }
        #expect(try manager.next() == "WATCHDOG=1")

        // Half of the modules are overdue: asked and not answered.
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        _ = await test.recorder.first(containing: "1 unresponsive")
        test.time.advance(by: .seconds(30))
        let silence = await test.recorder.first(containing: "watchdog is not answered")
        #expect(
            silence.message == "the service manager's watchdog is not answered: the host is "
                + "unhealthy, background: 2 modules; unresponsive: x.b")
        test.time.advance(by: .seconds(30))
        await test.settled()
        #expect(manager.all() == [])

        door.open()
        _ = await test.recorder.first(containing: "responsive again")
        test.time.advance(by: .seconds(30))
        #expect(try manager.next() == "WATCHDOG=1")
        _ = await test.recorder.first(containing: "watchdog is answered again")
        watchdog.stop()
        test.time.advance(by: .seconds(90))
        await test.settled()
        #expect(manager.all() == [])
        #expect(await test.stopped() == .stopped)
    }
}
