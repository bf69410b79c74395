import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What a daemon's host answers on its control socket, in each part of its life.
@Suite("Controlled daemon", .timeLimit(.minutes(10)))
struct ControlledDaemonTests {
    private let peer = SocketPeer(processID: 4711, userID: 1000, groupID: 1000)

    private func daemon(_ test: HostUnderTest) -> ControlledDaemon {
        ControlledDaemon(test.host, slatefile: "slatefile.json")
    }

    /// The modules as text: `x.a running`.
    private func modules(_ daemon: ControlledDaemon) -> Promise<[String]> {
        let answer = Promise<[String]>()
        daemon.modules { modules in
            let modules = (try? modules.get()) ?? []
            answer.keep(
                modules.map { module in
                    "\(module.id) \(module.state.rawValue)"
                        + (module.reason.map { ": \($0)" } ?? "")
                        + (module.behind.map { ", \($0) behind" } ?? "")
                })
        }
        return answer
    }

    @Test("which host it is does not need the lane")
    func identity() throws {
        let test = try HostUnderTest("a", top: #""deadlines": {"stopAll": "7s"}"#, probe: Probe())
        let identity = daemon(test).identity
        #expect(identity.app == "test")
        #expect(identity.slatefile?.hasPrefix("/") == true)
        #expect(identity.slatefile?.hasSuffix("/slatefile.json") == true)
        #expect(identity.stateDirectory == "/nonexistent")
        // The process ends after the app.
        #expect(identity.stopTime == .seconds(17))
        test.host.gate.lane.close()
    }

    @Test("modules before the launch, while they launch, and when they run, are late or failed")
    func moduleStates() async throws {
        let probe = Probe()
        let door = Door()
        let launch = Door()
        probe.when("b init") { _ in throw TestError() }
        probe.when("c launch") { _ in
            launch.pass()
            throw TestError(description: "no disk")
        }
        probe.when("a background") { _ in door.pass() }
        let test = try HostUnderTest(
            [
                .init(name: "a"), .init(name: "b"), .init(name: "c"),
                .init(name: "d", more: #""enabled": false"#),
            ], probe: probe)
        let daemon = daemon(test)
        let before = modules(daemon)
        try test.host.launch()
        #expect(await before.value == ["x.a waiting", "x.b waiting", "x.c waiting"])
        await probe.reached("c launch")
        let during = modules(daemon)
        launch.open()
        #expect(
            await during.value
                == ["x.a running", "x.b failed: init: broken", "x.c failed: launch: no disk"])
        _ = await test.recorder.first(containing: "ready: ")
        #expect(
            await modules(daemon).value
                == ["x.a running", "x.b failed: init: broken", "x.c failed: launch: no disk"])
        try test.deliver(.background)
        await probe.reached("a background")
        test.overrun()
        #expect(await modules(daemon).value.first == "x.a unresponsive, 0 behind")
        for _ in 0..<3 { try test.deliver(.memoryWarning) }
        await test.settled()
        #expect(await modules(daemon).value.first == "x.a unresponsive, 3 behind")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("an answer that takes too long names the module that keeps the lane busy")
    func busy() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a launch") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", probe: probe)
        let daemon = daemon(test)
        try test.host.launch()
        await probe.reached("a launch")
        let answer = Promise<Result<[ModuleStatus], RPCError>>()
        daemon.modules { answer.keep($0) }
        test.time.advance(by: .seconds(2))
        let error = RPCError(
            .overdue, "the host is busy",
            detail: "module 'x.a' is running, and the request was not reached within 2s; "
                + "try again")
        #expect(await answer.value == .failure(error))
        // It does not need the lane.
        #expect(try daemon.status().metrics.state == .launching)
        door.open()
        _ = await test.recorder.first(containing: "ready: ")
        #expect(try daemon.status().metrics.state == .active)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an answer leaves no alarm behind")
    func alarms() async throws {
        let test = try await HostUnderTest("a", probe: Probe()).launched()
        await test.settled()
        let daemon = daemon(test)
        let before = test.time.pendingAlarms
        _ = await modules(daemon).value
        #expect(test.time.pendingAlarms <= before)
        #expect(await test.stopped() == .stopped)
    }

    @Test("every caller that asks for a stop is answered when all is over")
    func stop() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a terminate") { _ in door.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        let daemon = daemon(test)
        let answers = LockedList<String>()
        try daemon.stop(.inOrder(within: nil), for: peer) { answers.append("first \($0)") }
        try daemon.stop(.inOrder(within: nil), for: peer) { answers.append("second \($0)") }
        await probe.reached("a terminate")
        #expect(test.recorder.messages.contains("stopping: control from pid 4711 (uid 1000)"))
        door.open()
        let end = await test.end()
        // The app has ended, and its daemon has not said so yet.
        #expect(throws: RPCError(.notRunning, "the app has ended")) { try daemon.status() }
        #expect(answers.values == [])
        daemon.ended(end)
        daemon.ended(.failed("too late to matter"))
        try daemon.stop(.inOrder(within: nil), for: peer) { answers.append("third \($0)") }
        #expect(answers.values == ["first stopped", "second stopped", "third stopped"])
    }
}
