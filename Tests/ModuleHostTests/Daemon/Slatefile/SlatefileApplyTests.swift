import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// A slatefile that a module hands to its host.
@Suite("A slatefile from a module", .timeLimit(.minutes(10)))
struct SlatefileApplyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func entries(_ names: String...) -> [HostUnderTest.Entry] {
        names.map { HostUnderTest.Entry(name: $0) }
    }

    /// A host of modules a and b, whose slatefile is a file; a applies what is in `next.json` at a memory
    /// warning.
    private func app(_ probe: Probe) async throws -> (HostUnderTest, SlatefileReloader) {
        let text = try HostUnderTest.text(entries("a", "b"), probe: probe)
        try writeFile(text.utf8, to: folder.path("slatefile.json"), mode: 0o640)
        let path = folder.path("next.json")
        probe.when("a memory-warning") { module in
            let next = String(decoding: try readFile(at: path, limit: 1 << 20), as: UTF8.self)
            let probe = module.probe
            module.context.host.apply(slatefile: next) { result in
                switch result {
                case .success(let change): probe?.note("a result: \(change.summary)")
                case .failure(let refusal): probe?.note("a result: \(refusal)")
                }
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let reloader = SlatefileReloader(
            test.host, options: HostDaemonOptions(slatefile: folder.path("slatefile.json")),
            log: test.recorder.log)
        return (test, reloader)
    }

    @Test("it holds, its file is exchanged, and the one before is kept")
    func applied() async throws {
        let probe = Probe()
        let (test, reloader) = try await app(probe)
        let before = try folder.text(of: "slatefile.json")
        let next = try HostUnderTest.text(entries("a", "c"), probe: probe)
        try folder.write(next, to: "next.json")
        try test.deliver(.memoryWarning)
        await probe.reached("a result: added x.c; removed x.b")
        #expect(try folder.text(of: "slatefile.json") == next)
        #expect(try folder.text(of: "slatefile.json.previous") == before)
        #expect(try folder.mode(of: "slatefile.json") == 0o640)
        #expect(throws: FileReadError.self) { try folder.text(of: "slatefile.json.previous.older") }
        #expect(reloader.lastReload?.summary == "added x.c; removed x.b")
        try test.deliver(.memoryWarning)
        await probe.reached("a result: nothing changed")
        #expect(try folder.text(of: "slatefile.json.previous") == next)
        #expect(throws: FileReadError.self) { try folder.text(of: "slatefile.json.previous.older") }
        #expect(await test.stopped() == .stopped)
    }

    @Test("where modules refuse it both the app and the files are as before")
    func refused() async throws {
        let probe = Probe()
        probe.when("c init") { _ in throw TestError() }
        let (test, reloader) = try await app(probe)
        let before = try folder.text(of: "slatefile.json")
        try folder.write("older", to: "slatefile.json.previous")
        try folder.write(HostUnderTest.text(entries("a", "c"), probe: probe), to: "next.json")
        try test.deliver(.memoryWarning)
        await probe.reached(
            "a result: rolled back, the current slatefile stays in effect: module 'x.c' failed in init: broken"
        )
        #expect(try folder.text(of: "slatefile.json") == before)
        #expect(try folder.text(of: "slatefile.json.previous") == "older")
        #expect(reloader.lastReload?.exitCode == .failed)
        #expect(test.host.slatefile.modules.map(\.id.text) == ["x.a", "x.b"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("where it is invalid nothing is written, and every error is reported")
    func invalid() async throws {
        let probe = Probe()
        let (test, reloader) = try await app(probe)
        let before = try folder.text(of: "slatefile.json")
        try folder.write(#"{"slate": 2, "app": "", "modules": []}"#, to: "next.json")
        try test.deliver(.memoryWarning)
        while !Task.isCancelled, !probe.entries.contains(where: { $0.hasPrefix("a result") }) {
            await Task.yield()
        }
        #expect(reloader.lastReload != nil)
        let result = probe.entries.first { $0.hasPrefix("a result") } ?? ""
        #expect(result.hasPrefix("a result: \(folder.path("slatefile.json")):1:"), "\(result)")
        #expect(result.contains("3 errors in "), "\(result)")
        #expect(try folder.text(of: "slatefile.json") == before)
        #expect(throws: FileReadError.self) { try folder.text(of: "slatefile.json.previous") }
        #expect(await test.stopped() == .stopped)
    }

    @Test("where the host stops meanwhile it is not refused: the next start decides")
    func stopped() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("c launch") { _ in door.pass() }
        let (test, reloader) = try await app(probe)
        let before = try folder.text(of: "slatefile.json")
        let next = try HostUnderTest.text(entries("a", "c"), probe: probe)
        try folder.write(next, to: "next.json")
        try test.deliver(.memoryWarning)
        await probe.reached("c launch")
        test.host.stop(because: "enough")
        door.open()
        #expect(await test.end() == .stopped)
        while reloader.lastReload == nil { await Task.yield() }
        #expect(reloader.lastReload?.summary == "the host stopped first")
        #expect(try folder.text(of: "slatefile.json") == next)
        #expect(try folder.text(of: "slatefile.json.previous") == before)
    }

    @Test("where the slatefile is a link, what it leads to is exchanged")
    func link() async throws {
        let probe = Probe()
        let (test, reloader) = try await app(probe)
        try folder.move("slatefile.json", to: "real.json")
        #expect(symlink("real.json", folder.path("slatefile.json")) == 0)
        let before = try folder.text(of: "real.json")
        let next = try HostUnderTest.text(entries("a", "c"), probe: probe)
        try folder.write(next, to: "next.json")
        try test.deliver(.memoryWarning)
        await probe.reached("a result: added x.c; removed x.b")
        #expect(try folder.text(of: "real.json") == next)
        #expect(try folder.text(of: "real.json.previous") == before)
        #expect(try folder.text(of: "slatefile.json") == next)
        #expect(reloader.lastReload?.exitCode == .success)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a watch sees what changed before it began, and is silent where that is nothing")
    func watched() async throws {
        let probe = Probe()
        let (test, reloader) = try await app(probe)
        let report = await withCheckedContinuation { continuation in
            reloader.reload(.changed) { continuation.resume(returning: $0) }
        }
        #expect(report.summary == "nothing changed")
        #expect(reloader.lastReload == nil)
        let watch = try SlatefileWatch(reloader, log: test.recorder.log)
        try folder.write(HostUnderTest.text(entries("a", "c"), probe: probe), to: "slatefile.json")
        try watch.start()
        await probe.reached("b deinit")
        watch.stop()
        #expect(probe.entries("configuration-changed") == ["a configuration-changed"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a file that is as it was once more is reported where it was refused in between")
    func mended() async throws {
        let probe = Probe()
        let (test, reloader) = try await app(probe)
        let text = try folder.text(of: "slatefile.json")
        for (text, outcome) in [("{", "1:2: "), (text, "nothing changed")] {
            try folder.write(text, to: "slatefile.json")
            let report = await withCheckedContinuation { continuation in
                reloader.reload(.changed) { continuation.resume(returning: $0) }
            }
            #expect(report.summary.contains(outcome), "\(report.summary)")
            #expect(reloader.lastReload == report)
        }
        #expect(test.recorder.messages.contains("slatefile read again (host): nothing changed"))
        #expect(probe.entries("configuration-changed") == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a host that runs of no file says so")
    func noFile() async throws {
        let probe = Probe()
        probe.when("a memory-warning") { module in
            let probe = module.probe
            module.context.host.apply(slatefile: "{}") { result in
                if case .failure(let refusal) = result { probe?.note("\(refusal)") }
            }
        }
        let test = try await HostUnderTest("a", probe: probe).launched()
        try test.deliver(.memoryWarning)
        await probe.reached(
            "this host has no slatefile that could be reloaded; start it with the command 'run'")
        #expect(await test.stopped() == .stopped)
    }
}
