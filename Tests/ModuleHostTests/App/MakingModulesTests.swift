import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Making modules", .timeLimit(.minutes(10)))
struct MakingModulesTests {
    @Test("modules after a required one that cannot be made are not made")
    func notMade() async throws {
        let probe = Probe()
        probe.when("b init") { _ in throw TestError() }
        let test = try HostUnderTest(
            [.init(name: "a"), .init(name: "b", more: #""required": true"#), .init(name: "c")],
            probe: probe)
        try test.host.launch()
        #expect(await test.end() == .failed("required module 'x.b' failed in init: broken"))
        #expect(!probe.entries.contains("c init"))
    }

    @Test("a stop in the middle of making modules makes no more")
    func stoppedWhileMaking() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a init") { _ in door.pass() }
        let test = try HostUnderTest("a", "b", probe: probe)
        try test.host.launch()
        await probe.reached("a init")
        test.host.stop(because: "test")
        door.open()
        #expect(await test.end() == .stopped)
        #expect(probe.entries == ["a init", "a deinit"])
    }

    // MARK: Members

    @Test("a member added in init stands behind its module, and receives launch with it")
    func addedInInit() async throws {
        let probe = Probe()
        let extra = ProbeMember("extra", probe)
        probe.when("a init") { $0.context.center.add(extra) }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(probe.entries("launch") == ["a launch", "extra launch", "b launch"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the members of a module that cannot be made go with it")
    func membersOfUnmade() async throws {
        let probe = Probe()
        probe.when("b init") { module in
            module.context.center.add(ProbeMember("extra", probe))
            throw TestError()
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(probe.entries("extra") == ["extra deinit"])
        #expect(test.host.app.openInModule().center.count == 1)
        #expect(await test.stopped() == .stopped)
    }
}
