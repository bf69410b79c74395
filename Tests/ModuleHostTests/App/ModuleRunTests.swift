import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Long-running tasks of modules", .timeLimit(.minutes(10)))
struct ModuleRunTests {
    private func host(
        _ probe: Probe, type: String = "RunProbe", more: String = ""
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [.init(name: "m"), .init(name: "r", more: more, type: type)], probe: probe
        ).launched()
    }

    @Test(
        "a task begins after launch, and runs where its module is, however the module conforms",
        arguments: ["RunProbe", "ExtendedRunProbe"])
    func runs(type: String) async throws {
        let probe = Probe("runs \(type)")
        let test = try await host(probe, type: type)
        RunProbe.give("one", to: "r", of: probe)
        await probe.reached("r one")
        try test.deliver(.memoryWarning)
        await probe.reached("r memory-warning 2")
        let order = probe.entries.filter { ["r launch", "r run", "m activate"].contains($0) }
        #expect(order == ["r launch", "r run", "m activate"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop cancels it after terminate, and releases the module when it has returned")
    func stopped() async throws {
        let probe = Probe()
        let test = try await host(probe)
        #expect(await test.stopped() == .stopped)
        let order = probe.entries.filter { $0.hasPrefix("r ") }
        #expect(
            order == [
                "r launch", "r run", "r terminate", "r asked to end", "r cancelled true", "r ended",
                "r gone",
            ])
        #expect(!test.recorder.messages.contains { $0.contains("run failed") })
    }

    @Test("so does a reload that removes the module; one that adds it begins its task")
    func reloaded() async throws {
        let probe = Probe()
        let test = try await host(probe)
        await probe.reached("r run")
        let outcome = try await test.reload("m")
        #expect(outcome.text == "applied: removed x.r")
        await probe.reached("r gone")
        let order = probe.entries.filter { $0.hasPrefix("r ") }
        #expect(
            order == [
                "r launch", "r run", "r terminate", "r asked to end", "r cancelled true", "r ended",
                "r gone",
            ])
        _ = try await test.reload([.init(name: "m"), .init(name: "s", type: "RunProbe")])
        await probe.reached("s run")
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries.last == "s gone" || probe.entries.last == "m deinit")
    }

    @Test("an error fails the module, which receives nothing more, and the app goes on")
    func failed() async throws {
        let probe = Probe()
        let test = try await host(probe)
        RunProbe.give("throw", to: "r", of: probe)
        let record = await test.recorder.first(containing: "run failed")
        #expect(record.message == "run failed; the app continues without it: broken")
        #expect(record.module == "x.r")
        try test.deliver(.memoryWarning)
        await probe.reached("m memory-warning")
        #expect(probe.entries("memory-warning") == ["m memory-warning"])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "the task of a required module ends the app with its end",
        arguments: [
            ("throw", "broken"),
            (
                "end",
                "it has returned, and a required module runs as long as the app; "
                    + "leave \"required\" out where it may end"
            ),
        ])
    func required(text: String, reason: String) async throws {
        let probe = Probe("required \(text)")
        let test = try await host(probe, more: #""required": true"#)
        RunProbe.give(text, to: "r", of: probe)
        #expect(await test.end() == .failed("required module 'x.r' failed in run: \(reason)"))
    }

    @Test("the end of one that is not required is logged, and the module stays")
    func returned() async throws {
        let probe = Probe()
        let test = try await host(probe)
        RunProbe.give("end", to: "r", of: probe)
        let record = await test.recorder.first { $0.message == "run ended" }
        #expect(record.module == "x.r" && record.level == .notice)
        try test.deliver(.memoryWarning)
        await probe.reached("r memory-warning 2")
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that does not return is named, and keeps the stop for no longer than its time")
    func hangs() async throws {
        let probe = Probe()
        let test = try await host(probe)
        let door = probe.close("r slow door")
        RunProbe.give("slow", to: "r", of: probe)
        await probe.reached("r slow door")
        test.overrun()
        _ = await test.recorder.first(containing: "unresponsive")
        test.host.stop(because: "the test is over")
        await probe.reached("m terminate")
        // While its module does not return: what it runs elsewhere can end meanwhile.
        await probe.reached("r asked to end")
        door.open()
        #expect(await test.end() == .stopped)
        await probe.reached("r gone")
        #expect(probe.entries.count { $0 == "r asked to end" } == 1)
    }

    @Test("slices of a task wait for the thread of a module that is overdue")
    func overdue() async throws {
        let probe = Probe()
        let door = probe.close("r slow door")
        let test = try await host(probe)
        RunProbe.give("slow", to: "r", of: probe)
        await probe.reached("r slow door")
        test.overrun()
        try test.deliver(.memoryWarning)
        await probe.reached("m memory-warning")
        RunProbe.give("two", to: "r", of: probe)
        #expect(!probe.entries.contains("r two"))
        door.open()
        await probe.reached("r two")
        // Before or after the event that it has missed: what is there already may need no further slice.
        while !probe.entries.contains(where: { $0.hasPrefix("r memory-warning") }) {
            await Task.yield()
        }
        #expect(await test.stopped() == .stopped)
    }
}
