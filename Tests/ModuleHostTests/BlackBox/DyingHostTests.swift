import TestSupport
import Testing

@testable import ModuleHostCore

/// Hosts that really die, each in a process of its own.
@Suite("A host that dies", .timeLimit(.minutes(10)))
struct DyingHostTests {
    /// What the next host says of the one that has died in the folder.
    private func lastWords(in folder: TemporaryFolder) throws -> String {
        let contents = BlackBox.Contents(in: StateDirectory(path: folder.path))
        let death = try #require(contents?.death)
        #expect(death.processID != CurrentProcess.id)
        let parts = death.description.split(separator: " (process \(death.processID))")
        return parts.joined()
    }

    /// Makes a host whose box is in the folder of this path.
    private static func host(in path: String, _ probe: Probe) throws -> HostUnderTest {
        let box = try BlackBox(in: StateDirectory(path: path), app: "test")
        try box.begin()
        box.setInHand(EventPosition(segment: 3, offset: 4096), attempt: 2)
        return try HostUnderTest(
            ["a", "b", "c"].map { HostUnderTest.Entry(name: $0) }, blackBox: box, probe: probe)
    }

    @Test("by a trap in an event: the module that trapped is named")
    func trap() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let probe = Probe("trap")
            probe.when("b memory-warning") { _ in fatalError("as the test wants") }
            let test = try await Self.host(in: path, probe).launched()
            try test.deliver(.memoryWarning)
            await probe.reached("nothing")
        }
        #expect(
            try lastWords(in: folder)
                == "the last host died while 'x.b' handled 'memory-warning' "
                + "(inbox 3:4096, attempt 2)")
    }

    @Test("by a trap in a call: the module that was called is named, and who called it")
    func nested() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let probe = Probe("nested")
            probe.when("c ping") { _ in fatalError("as the test wants") }
            probe.when("a background") { module in
                _ = module.context.center.send(to: (any PingResponder).self) {
                    try $0.ping("x")
                }
            }
            let test = try await Self.host(in: path, probe).launched()
            try test.deliver(.background)
            await probe.reached("nothing")
        }
        #expect(
            try lastWords(in: folder)
                == "the last host died while 'x.c' was running, called by 'x.a', "
                + "in 'background' (inbox 3:4096, attempt 2)")
    }

    @Test("by a trap in init: the module that was made is named")
    func making() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let probe = Probe("making")
            probe.when("c init") { _ in fatalError("as the test wants") }
            let test = try Self.host(in: path, probe)
            try test.host.launch()
            await probe.reached("nothing")
        }
        #expect(try lastWords(in: folder) == "the last host died while 'x.c' was being created")
    }

    @Test("by a trap of a late module on its own thread: that one is named as late")
    func overdue() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let probe = Probe("late")
            let door = Door()
            probe.when("b memory-warning") { _ in
                door.pass()
                fatalError("as the test wants")
            }
            let test = try await Self.host(in: path, probe).launched()
            try test.deliver(.memoryWarning)
            await probe.reached("b memory-warning")
            test.overrun()
            await test.settled()
            door.open()
            await probe.reached("nothing")
        }
        #expect(
            try lastWords(in: folder)
                == "the last host died while no module was running; unresponsive: x.b")
    }

    @Test("by a trap in a start-up task: its module is named")
    func startup() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            let probe = Probe("startup")
            probe.when("b init") { module in
                try module.context.startup("index", priority: .high) {
                    fatalError("as the test wants")
                }
            }
            let test = try Self.host(in: path, probe)
            try test.host.launch()
            await probe.reached("nothing")
        }
        #expect(
            try lastWords(in: folder)
                == "the last host died while no module was running; work off the lane ran: x.b")
    }
}
