import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules of other processes: reloads and restarts", .timeLimit(.minutes(10)))
struct IsolatedReloadTests {
    private let probe: Probe
    private let folder: TemporaryFolder

    init() throws {
        probe = Probe(#fileID)
        folder = try TemporaryFolder()
        probe.when("a push") { $0.noteEvent() }
    }

    private func program(_ name: String, version: Int = 1) -> RecordingProgram {
        RecordingProgram(
            "x.\(name)", receiving: ["push", "configuration-changed"], in: folder, version: version)
    }

    private func entry(
        _ name: String, version: Int = 1, config: String = ""
    ) -> HostUnderTest.Entry {
        HostUnderTest.Entry(
            name: name, more: #""killAfter": "10m""#, config: config,
            command: program(name, version: version).command)
    }

    /// A host with a module that notes all, and these.
    private func launched(_ entries: HostUnderTest.Entry...) async throws -> HostUnderTest {
        try await HostUnderTest(
            [HostUnderTest.Entry(name: "a")] + entries, folder: folder, processes: .quick,
            probe: probe
        ).launched()
    }

    /// Delivers a few durable events, one after the other.
    private func deliver(to host: HostUnderTest) async {
        for _ in 0..<5 { _ = await host.outcome() }
    }

    /// The durable events that a module received, such as `1:0#2` at the second attempt.
    private func received(_ name: String) throws -> [String] {
        try program(name).received.filter { $0.event == "push" }.map {
            "\($0.position ?? "?")#\($0.attempt ?? 1)\($0.isRepeated ? " again" : "")"
        }
    }

    @Test("added, recreated, reconfigured and removed while events flow, it receives each once")
    func reloads() async throws {
        let host = try await launched(entry("b"))
        let isOver = Guarded(false)
        let flow = Task {
            while !isOver.withLock(\.self) { _ = await host.outcome() }
        }
        let main = HostUnderTest.Entry(name: "a")
        let steps: [(entries: [HostUnderTest.Entry], text: String)] = [
            ([main, entry("b"), entry("c")], "applied: added x.c"),
            ([main, entry("b", version: 2), entry("c")], "applied: recreated x.b"),
            (
                [main, entry("b", version: 2, config: #""n": 2"#), entry("c")],
                "applied: config changed: x.b"
            ),
            ([main, entry("b", version: 2, config: #""n": 2"#)], "applied: removed x.c"),
            ([main], "applied: removed x.b"),
        ]
        for (entries, text) in steps {
            await deliver(to: host)
            let found = try await host.reload(entries).text
            #expect(found == text)
        }
        await deliver(to: host)
        isOver.withLock { $0 = true }
        await flow.value
        #expect(await host.stopped() == .stopped)

        let all = probe.received("a")
        let b = try received("b")
        #expect(all.count >= 30 && Set(all).count == all.count)
        #expect(b.count >= 25 && all.count >= b.count + 5)
        #expect(Array(all.prefix(b.count)) == b)
        let c = try received("c")
        let start = try #require(all.firstIndex(of: c.first ?? ""))
        #expect(c.count >= 15 && start >= 5)
        #expect(Array(all[start...].prefix(c.count)) == c)
        #expect(all.count >= start + c.count + 10)

        // Two processes, one after the other; the settings of the second one have changed.
        let events = try program("b").received
        let processes = events.map(\.processID)
        #expect(Set(processes).count == 2)
        #expect(zip(processes, processes.dropFirst()).count { $0 != $1 } == 1)
        let changes = events.filter { $0.payload?["changed"]?.bool == true }
        #expect(changes.map { $0.payload?["config"]?["n"]?.int } == [2])
        #expect(changes.map(\.processID) == processes.suffix(1))
        #expect(Set(try program("c").received.map(\.processID)).count == 1)
        #expect(host.recorder.records.filter { $0.level >= .warning }.map(\.message) == [])
    }

    @Test("one that says what cannot be is refused for that, and ended")
    func unusable() async throws {
        let script = """
            read -r line
            echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":2,"module":"x.b","routes":[{"pattern":"/:x/:x"}]}}'
            read -r line
            """
        let host = try await launched()
        let entries = [
            HostUnderTest.Entry(name: "a"),
            HostUnderTest.Entry(name: "b", command: ["/bin/sh", "-c", script]),
        ]
        let text = try await host.reload(entries).text
        #expect(text.contains("module 'x.b' failed in init: "))
        #expect(text.contains(":x"))
        #expect(await host.stopped() == .stopped)
    }

    @Test("the host does not wait for the end of a module that is removed")
    func slowEnd() async throws {
        let top = #""deadlines": {"stop": "10m"}"#
        let test = try await IsolatedTest("hang-shutdown", top: top, probe: probe).launched()
        let process = try #require(await test.process?.processID)
        let others = [
            HostUnderTest.Entry(name: "a", type: "CallProbe"), HostUnderTest.Entry(name: "c"),
        ]
        #expect(try await test.host.reload(others, top: top).text == "applied: removed x.b")
        try test.host.deliver(.memoryWarning)
        await probe.reached("c memory-warning")
        #expect(kill(process, 0) == 0)
        kill(process, SIGKILL)
        while test.host.host.gate.lane.hasStalledThreads() { await test.host.settled() }
        #expect(test.log() == [])
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("a module released without its end is killed, and the lane is neither delayed nor taken")
    func letGoWithoutEnd() async throws {
        let top = #""deadlines": {"stop": "10m"}"#
        let test = try await IsolatedTest("hang-shutdown", top: top, probe: probe).launched()
        let process = try #require(await test.process?.processID)
        let isLaneKept = await withCheckedContinuation { continuation in
            test.host.host.onLane { app, thread in
                for record in app.records where record.module is IsolatedModule {
                    app.unloadingModules.takeOut([record])
                    record.unloadingParts = nil
                }
                continuation.resume(returning: app.gate.lane.owns(thread))
            }
        }
        #expect(isLaneKept)
        while kill(process, 0) == 0 { await Task.yield() }
        #expect(await test.host.stopped() == .stopped)
    }

    @Test(
        "a restart of an unresponsive module kills it: it gets its current event again, then the rest"
    )
    func restartOfLate() async throws {
        let host = try await launched(entry("b"))
        let program = program("b")
        _ = await host.outcome("first")
        _ = await host.accept("hang")
        let hanging = try await program.received { $0.id == "hang" }
        host.overrun()
        for number in 1...3 { _ = await host.outcome("late-\(number)") }
        #expect(probe.received("a").count == 5)
        let outcome = await withCheckedContinuation { continuation in
            host.host.restart("x.b", origin: .host) { continuation.resume(returning: $0) }
        }
        #expect(try outcome.get() == .killed)
        _ = await host.recorder.first { $0.message == "responsive again: it has caught up" }
        #expect(await host.stopped() == .stopped)
        let events = try program.received
        #expect(
            events.map { ($0.id ?? "") + ($0.isRepeated ? " again" : "") } == [
                "first", "hang", "hang again", "late-1", "late-2", "late-3",
            ])
        #expect(events[2].position == hanging.position)
        #expect(events.map(\.attempt) == [1, 1, 1, 1, 1, 1])
        #expect(Set(events.prefix(2).map(\.processID)).count == 1)
        #expect(Set(events.dropFirst(2).map(\.processID)).count == 1)
        #expect(events[1].processID != events[2].processID)
    }
}
