import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd reload", .timeLimit(.minutes(10)))
struct ReloadRunTests {
    private static let browser = #", {"id": "x.browser", "entry": "Modules.BrowserModule"}"#

    /// The slatefile of a test host, with more modules.
    private func slatefile(_ more: String = "", top: String = "") -> String {
        let text = HostdRun.slatefile(top: top)
        guard let end = text.lastIndex(of: "]") else { return text }
        return text[..<end] + more + "]}"
    }

    @Test("applies what changed, and the second time says that nothing did")
    func applied() throws {
        let run = try HostdRun(slatefile()).ready()
        try run.folder.write(
            slatefile(Self.browser, top: #""signals": {"RTMIN+1": {"event": "background"}}"#),
            to: "slatefile.json")
        let first = try run.hostd("reload")
        #expect(first.exit == .code(0))
        #expect(first.output == "applied: added x.browser; signals\n")
        #expect(first.error == "")
        let second = try run.hostd("reload")
        #expect(second.exit == .code(0) && second.output == "nothing changed\n")
        #expect(try run.hostd("status").output.contains("\nreload        unchanged at "))
        #expect(try run.hostd("modules").output.contains("\nx.browser  running  "))
        run.queue(realTime(1))
        try run.process.waitForLine(containing: " background  ")
        try run.folder.write(slatefile(), to: "slatefile.json")
        let json = try JSONValue(parsing: run.hostd("reload", "--json").output)
        #expect(json["outcome"]?.string == "applied")
        #expect(json["changes"]?["removed"]?.elements.map(\.string) == ["x.browser"])
        #expect(try !run.hostd("modules").output.contains("x.browser"))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a broken slatefile: every error as 'hostd check' shows it, one line in the log, and status agrees"
    )
    func broken() throws {
        let run = try HostdRun(slatefile()).ready()
        try run.folder.write(slatefile(top: #""shemes": ["s"]"#), to: "slatefile.json")
        let outcome = try run.hostd("reload")
        #expect(outcome.exit == .code(78))
        #expect(outcome.output == "")
        let check = try run.hostd("check", run.folder.path("slatefile.json")).error
            .replacing(run.folder.path("slatefile.json"), with: "slatefile.json")
        #expect(
            outcome.error == check
                + "hostd reload: refused, the current slatefile stays in effect\n")
        let log = try run.process.waitForLine(containing: "reload refused")
        #expect(log.contains("slatefile.json:1:29: unknown key 'shemes'; did you mean 'schemes'?"))
        let status = try run.hostd("status")
        #expect(status.output.contains("\nreload        invalid at "))
        #expect(status.output.contains("unknown key 'shemes'"))
        #expect(try run.hostd("modules").output.contains("x.journal"))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "what a failed module has not received when it is disabled is not lost: 'inbox retry' brings it"
    )
    func disabled() throws {
        let broken = #""config": {"file": "none/journal.ndjson"}"#
        let run = try HostdRun(HostdRun.slatefile(journal: broken)).ready()
        for id in ["1", "2"] {
            // Until it has had its turn.
            let sent = try run.hostd("send", "push", "--payload", "{}", "--id", id, "--wait")
            #expect(sent.output.hasPrefix("accepted 1:"), "\(sent.output)")
        }
        try run.folder.write(
            HostdRun.slatefile(journal: broken + #", "enabled": false"#), to: "slatefile.json")
        let reload = try JSONValue(parsing: run.hostd("reload", "--json").output)
        #expect(
            reload["summary"]?.string
                == "removed x.journal; 2 undelivered events become dead letters")
        #expect(reload["changes"]?["deadLetters"]?.int == 2)
        var listed = ""
        // The cursor follows the dead letters.
        while !listed.hasPrefix("0 pending\n2 dead letters\n") {
            listed = try run.hostd("inbox").output
        }
        #expect(
            try run.hostd("inbox").unwrapped.contains(
                "module 'x.journal' had failed when it was removed or disabled"))

        try run.folder.write(HostdRun.slatefile(), to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: added x.journal\n")
        #expect(try run.hostd("inbox", "retry", "--all").exit == .code(0))
        while try run.journal().count(where: { $0["event"]?.string == "push" }) < 2 {}
        #expect(try run.journal().compactMap { $0["id"]?.string } == ["1", "2"])
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a slatefile that takes a needed module away is refused, and all modules stay")
    func needed() throws {
        let needing =
            #", {"id": "x.last", "entry": "Modules.PushModule", "needs": ["x.browser"]}"#
        let run = try HostdRun(slatefile(Self.browser + needing)).ready()
        let off = #", {"id": "x.browser", "entry": "Modules.BrowserModule", "enabled": false}"#
        for (less, reason) in [
            ("", "no module 'x.browser'"), (off, "module 'x.browser' is not enabled"),
        ] {
            try run.folder.write(slatefile(less + needing), to: "slatefile.json")
            let outcome = try run.hostd("reload")
            #expect(outcome.exit == .code(78))
            #expect(outcome.error.contains(reason))
            #expect(try run.hostd("modules").output.contains("\nx.browser  running  "))
        }
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a slatefile that is gone: the remedy is to put it back")
    func removed() throws {
        let run = try HostdRun(slatefile()).ready()
        try #require(unlink(run.folder.path("slatefile.json")) == 0)
        let outcome = try run.hostd("reload")
        #expect(outcome.exit == .code(66))
        #expect(
            outcome.error == """
                hostd reload: slatefile.json: no such file
                put the slatefile back that the host was started with
                hostd reload: refused, the current slatefile stays in effect

                """)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a module that cannot be made: undone, exit 70, with the reason")
    func undone() throws {
        let run = try HostdRun(slatefile()).ready()
        try run.folder.write(
            slatefile(#", {"id": "x.echo", "command": ["cat"]}"#), to: "slatefile.json")
        let outcome = try run.hostd("reload")
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error.hasPrefix(
                "hostd reload: rolled back, the current slatefile stays in effect: module 'x.echo' failed in init: "
            ))
        #expect(try run.hostd("status").output.contains("\nreload        rolled-back at "))
        #expect(try run.hostd("modules").output.split(separator: "\n").count == 3)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("without a host there is nothing to reload")
    func noHost() throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["reload"], in: folder.path)
        #expect(outcome.exit == .code(69))
    }

    @Test("--watch takes a file that is renamed into the place of the slatefile")
    func watched() throws {
        let run = try HostdRun(slatefile(), ["--watch"]).ready()
        try run.folder.write(slatefile(Self.browser), to: "next.json")
        try run.folder.move("next.json", to: "slatefile.json")
        let line = try run.process.waitForLine(containing: "slatefile applied (host)")
        #expect(line.hasSuffix(": added x.browser"))
        try run.folder.write("{", to: "next.json")
        try run.folder.move("next.json", to: "slatefile.json")
        try run.process.waitForLine(
            containing: "reload refused, the current slatefile stays in effect (host)")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("--watch says once that the slatefile is gone, and once that it is back")
    func watchedRemoval() throws {
        let run = try HostdRun(slatefile(), ["--watch"]).ready()
        try run.folder.move("slatefile.json", to: "away.json")
        try run.process.waitForLine(
            containing: "reload refused, the current slatefile stays in effect (host)")
        try run.folder.move("away.json", to: "slatefile.json")
        try run.process.waitForLine(containing: "slatefile read again (host)")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        for text in ["reload refused", "slatefile read again"] {
            #expect(outcome.error.split(separator: "\n").count { $0.contains(text) } == 1)
        }
    }

    @Test(
        "--watch takes a slatefile behind a link that is switched, as a volume of Kubernetes does")
    func watchedLink() throws {
        let folder = try TemporaryFolder()
        for (version, text) in [("..1", slatefile()), ("..2", slatefile(Self.browser))] {
            try makeFolders(folder.path(version))
            try folder.write(text, to: "\(version)/slatefile.json")
        }
        for (name, target) in [
            ("..data", "..1"), ("slatefile.json", "..data/slatefile.json"), ("..new", "..2"),
        ] {
            try #require(symlink(target, folder.path(name)) == 0)
        }
        let run = try HostdRun(nil, in: folder, ["--watch"]).ready()
        try folder.move("..new", to: "..data")
        let line = try run.process.waitForLine(containing: "slatefile applied (host)")
        #expect(line.hasSuffix(": added x.browser"))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a signal that the new slatefile gives a meaning to is taken at once: it no longer ends the host"
    )
    func keyboard() throws {
        let run = try HostdRun(slatefile()).ready()
        try run.folder.write(
            slatefile(top: #""signals": {"QUIT": {"event": "memory-warning"}}"#),
            to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: signals\n")
        // The signal thread takes note before it takes another signal.
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  ")
        run.process.send(SIGQUIT)
        try run.process.waitForLine(containing: " memory-warning  ")
        #expect(try run.terminated().exit == .code(0))
    }
}
