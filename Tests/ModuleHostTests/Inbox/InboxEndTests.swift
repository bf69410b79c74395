import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Durable events at the end of the host", .timeLimit(.minutes(10)))
struct InboxEndTests {
    @Test("a module that returns when all is over has not received what waits for it")
    func returnsTooLate() async throws {
        let (probe, door) = (Probe(), Door())
        let folder = try TemporaryFolder()
        probe.when("b push") { _ in door.pass() }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b")], folder: folder, probe: probe
        ).launched()
        _ = await test.accept("first")
        await probe.reached("b push")
        test.overrun()
        let second = await test.accept("second")
        // The lane has gone beyond it.
        while probe.entries.count(where: { $0 == "a push" }) < 2 { await test.settled() }
        test.host.stop(because: "test")
        _ = await test.recorder.first(containing: "unresponsive since before the stop: x.b")
        test.time.advance(by: .seconds(10))
        #expect(await test.end() == .stopped)
        let lane = test.host.gate.lane
        door.open()
        while lane.hasStalledThreads() { await Task.yield() }
        #expect(lane.undelivered.map(\.position) == [second])
        #expect(probe.entries.count { $0 == "b push" } == 1)
    }
}
