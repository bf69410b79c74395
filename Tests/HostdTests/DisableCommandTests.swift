import ModuleHost
import TestSupport
import Testing

@Suite("hostd disable and hostd enable", .timeLimit(.minutes(10)))
struct DisableCommandTests {
    private static func slatefile(store: String = "", top: String = "") -> String {
        """
        {"slate": 1, "app": "test", \(top)"modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.store", "entry": "Modules.JournalModule"\(store)},
          {"id": "x.push", "entry": "Modules.PushModule", "needs": ["x.store"]}
        ]}
        """
    }

    private func states(of run: HostdRun) throws -> [String] {
        try JSONValue(parsing: run.hostd("modules", "--json").output)
            .elements.compactMap { $0["id"]?.string }
    }

    @Test("at once, across a restart, shown by status, config and check, and back")
    func running() throws {
        let run = try HostdRun(Self.slatefile()).ready()
        let disabled = try run.hostd("disable", "x.push")
        #expect(disabled.exit == .code(0), "\(disabled.error)")
        #expect(disabled.output == "disabled x.push\napplied: removed x.push\n")
        #expect(try states(of: run) == ["x.main", "x.store"])
        #expect(
            try run.hostd("disable", "x.push").output
                == "nothing changed: x.push is disabled already\n")
        #expect(try run.hostd("status").output.contains("\ndisabled      x.push\n"))
        for words in [["why"], ["restart"], ["wait", "--for"], ["log-level", "debug"]] {
            let outcome = try HostProcess.run(words + ["x.push"], in: run.folder.path)
            #expect(outcome.exit == .code(69))
            #expect(
                outcome.error
                    == "hostd \(words[0]): module 'x.push' is disabled: 'enable' runs it again\n")
        }
        let config = try JSONValue(parsing: run.hostd("config", "--json").output)
        #expect(
            config["modules"]?.elements.map { $0["enabled"]?.bool } == [true, true, false])
        #expect(
            try run.hostd("check", "--state-dir", ".hostd").output
                == "slatefile.json: ok, 3 modules\n  x.push: disabled by 'hostd disable'\n")
        #expect(try run.hostd("reload").output == "nothing changed\n")
        #expect(try run.terminated().exit == .code(0))

        let next = try HostdRun(nil, in: run.folder).ready()
        #expect(try states(of: next) == ["x.main", "x.store"])
        #expect(
            try next.hostd("enable", "x.push").output
                == "enabled x.push\napplied: added x.push\n")
        #expect(try states(of: next) == ["x.main", "x.store", "x.push"])
        #expect(
            try next.hostd("enable", "x.push").output == "nothing changed: x.push is not disabled\n"
        )
    }

    @Test("refused, with the reason: 78; an unknown module: 69")
    func refused() throws {
        let run = try HostdRun(
            Self.slatefile(top: #""schemes": ["t"], "fallback": "x.push", "#)
        ).ready()
        func refusal(_ words: String...) throws -> String {
            let outcome = try run.hostd(words[0], words[1])
            #expect(outcome.exit == .code(78) && outcome.output.isEmpty)
            return outcome.error
        }
        #expect(
            try refusal("disable", "x.main")
                == "hostd disable: refused: x.main is the main module, which the app cannot be without\n"
        )
        #expect(
            try refusal("disable", "x.push")
                == "hostd disable: refused: x.push is the fallback, which answers URLs that no other module answers\n"
        )
        #expect(
            try refusal("disable", "x.store")
                == "hostd disable: refused: x.store is needed by x.push: --with-dependents disables both\n"
        )
        let dependents = try run.hostd("disable", "x.store", "--with-dependents")
        #expect(dependents.exit == .code(78))
        #expect(dependents.error.contains("x.push is the fallback"))
        let unknown = try run.hostd("disable", "x.pusj")
        #expect(unknown.exit == .code(69))
        #expect(unknown.error == "hostd disable: no module 'x.pusj'; did you mean 'x.push'?\n")
        #expect(try states(of: run) == ["x.main", "x.store", "x.push"])
    }

    @Test("with the modules that need it; each can be enabled after what it needs")
    func dependents() throws {
        let run = try HostdRun(Self.slatefile()).ready()
        #expect(
            try run.hostd("disable", "x.store", "--with-dependents").output
                == "disabled x.store, x.push\napplied: removed x.store, x.push\n")
        let refused = try run.hostd("enable", "x.push")
        #expect(refused.exit == .code(78))
        #expect(
            refused.error
                == "hostd enable: refused: x.push needs x.store, which is disabled: enable that first\n"
        )
        #expect(try run.hostd("enable", "x.store").exit == .code(0))
        #expect(try run.hostd("enable", "x.push").exit == .code(0))
        #expect(try states(of: run) == ["x.main", "x.store", "x.push"])
    }

    @Test("without a host, and a slatefile that makes a disabled module a required one")
    func files() throws {
        let run = try HostdRun(Self.slatefile()).ready()
        _ = try run.terminated()
        let outcome = try run.hostd("disable", "x.store", "--with-dependents")
        #expect(
            outcome.output
                == "disabled x.store, x.push\nno host runs: it takes effect at the next start\n",
            "\(outcome.error)")
        try run.folder.write(Self.slatefile(store: #", "required": true"#), to: "slatefile.json")
        let check = try run.hostd("check", "--state-dir", ".hostd")
        #expect(
            check.error
                == """
                slatefile.json: warning: 'disable' has no effect: x.store is required: the app cannot run without it

                """)
        let next = try HostdRun(nil, in: run.folder).ready()
        #expect(try states(of: next) == ["x.main", "x.store"])
        #expect(
            try next.terminated().error.contains(
                "stays enabled, although disabled: x.store is required"))
    }

    @Test("an enabled module that cannot be launched stays disabled; a broken list disables none")
    func failures() throws {
        let folder = try TemporaryFolder()
        let run = try HostdRun(
            Self.slatefile(store: #", "config": {"file": "none/journal.ndjson"}"#).replacing(
                #", "needs": ["x.store"]"#, with: ""), in: folder
        ).ready()
        // What waits for the failed module is counted.
        _ = try run.hostd("send", "push", "--payload", #"{"aps": {}}"#, "--wait")
        #expect(
            try run.hostd("disable", "x.store").output
                == """
                disabled x.store
                applied: removed x.store; 1 undelivered event becomes a dead letter

                """)
        let enabled = try run.hostd("enable", "x.store")
        #expect(enabled.exit == .code(70))
        #expect(enabled.error.hasPrefix("hostd enable: failed: "), "\(enabled.error)")
        #expect(try run.hostd("status").output.contains("\ndisabled      x.store\n"))
        _ = try run.terminated()

        try folder.write("{", to: ".hostd/disabled.json")
        let broken = try run.hostd("enable", "x.store")
        #expect(broken.exit == .code(74))
        #expect(
            broken.error.contains("'.hostd/disabled.json', which lists the disabled modules, is"))
        let next = try HostdRun(nil, in: folder).ready()
        #expect(
            try next.terminated().error.contains("no module is disabled: '.hostd/disabled.json'"))
    }
}
