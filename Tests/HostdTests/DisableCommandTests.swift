import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd disable and hostd enable", .timeLimit(.minutes(10)))
struct DisableCommandTests {
    private static func slatefile(
        store: String = "", push: String = "", top: String = ""
    ) -> String {
        """
        {"slate": 1, "app": "test", \(top)"modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.store", "entry": "Modules.JournalModule"\(store)},
          {"id": "x.push", "entry": "Modules.PushModule", "needs": ["x.store"]\(push)}
        ]}
        """
    }

    private func states(of run: HostdRun) throws -> [String] {
        try JSONValue(parsing: run.hostd("modules", "--json").output)
            .elements.filter { $0["state"]?.string != "disabled" }.compactMap { $0["id"]?.string }
    }

    @Test("at once, across a restart, shown by status, config and check, and back")
    func running() throws {
        let run = try HostdRun(Self.slatefile(push: #", "logLevel": "debug""#)).ready()
        let disabled = try run.hostd("disable", "x.push")
        #expect(disabled.exit == .code(0), "\(disabled.error)")
        #expect(disabled.output == "disabled x.push\napplied: removed x.push\n")
        #expect(try states(of: run) == ["x.main", "x.store"])
        #expect(
            try run.hostd("disable", "x.push").output
                == "nothing changed: x.push is disabled already\n")
        #expect(try run.hostd("status").output.contains("\ndisabled      x.push\n"))
        #expect(
            try run.hostd("modules").output.hasSuffix(
                """
                x.push   disabled       Modules.PushModule
                    'hostd enable x.push' runs it again

                """))
        for words in [
            ["why"], ["restart"], ["wait", "--for"], ["log-level", "debug"], ["call"],
        ] {
            let action = words == ["call"] ? ["clear"] : []
            let outcome = try HostProcess.run(words + ["x.push"] + action, in: run.folder.path)
            #expect(outcome.exit == .code(69))
            #expect(
                outcome.error.hasPrefix(
                    "hostd \(words[0]): module 'x.push' is disabled: 'enable' runs it again\n"))
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
        #expect(try next.hostd("log-level").output == "host  info\n")
        #expect(
            try next.hostd("enable", "x.push").output
                == "enabled x.push\napplied: added x.push\n")
        #expect(try states(of: next) == ["x.main", "x.store", "x.push"])
        #expect(
            try next.hostd("enable", "x.push").output == "nothing changed: x.push is not disabled\n"
        )
        #expect(
            try next.terminated().error.contains(
                "disabled by 'hostd disable': 'hostd enable' runs it again"))
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

    @Test("not what an enabled module declares it uses")
    func used() throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "config": {"domain": "https://www.example.com"}, "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.community", "entry": "Modules.CommunityModule"},
              {"id": "x.user", "entry": "TestHost.DirectoryUser"}
            ]}
            """, program: HostProcess.program("TestHost")
        ).ready()
        let disabled = try run.hostd("disable", "x.community", "--with-dependents")
        #expect(disabled.exit == .code(78))
        #expect(
            disabled.error
                == "hostd disable: refused: x.community has a service or an action that x.user declares it uses: "
                + "disable that one first\n")
        #expect(try run.hostd("disable", "x.user").exit == .code(0))
        #expect(try run.hostd("disable", "x.community").exit == .code(0))
        let enabled = try run.hostd("enable", "x.user")
        #expect(
            enabled.error
                == "hostd enable: refused: x.user needs x.community, which is disabled: enable that first\n"
        )
        #expect(try states(of: run) == ["x.main"])
    }

    @Test("a module that the slatefile has not enabled can be taken off the list")
    func off() throws {
        let run = try HostdRun(Self.slatefile()).ready()
        _ = try run.hostd("disable", "x.push")
        try run.folder.write(
            Self.slatefile(push: #", "enabled": false"#), to: "slatefile.json")
        #expect(
            try run.hostd("enable", "x.push").output
                == """
                enabled x.push
                applied: nothing changed
                x.push is not enabled in the slatefile: change it there, and reload

                """)
        #expect(try run.folder.text(of: ".hostd/disabled.json") == "{\"modules\":[]}\n")
        #expect(
            try run.hostd("disable", "x.push").output
                == "nothing changed: x.push is disabled already\n")
        let refused = try run.hostd("enable", "x.push")
        #expect(refused.exit == .code(78))
        #expect(
            refused.error
                == "hostd enable: refused: x.push is not enabled in the slatefile: change it there, and reload\n"
        )
    }

    @Test(
        "a module that ends the host when it is created stays disabled",
        .enabled(if: !isSanitized))
    func crash() throws {
        func slatefile(_ more: String = "") -> String {
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.crash", "entry": "TestHost.CrashingModule"\(more)}
            ]}
            """
        }
        let host = HostProcess.program("TestHost")
        let first = try HostdRun(slatefile(), program: host).ready()
        _ = try first.terminated()
        // Without a host the command needs neither the class nor the variable.
        let folder = first.folder
        try folder.write(
            slatefile(#", "config": {"atInit": "${CRASH}"}"#), to: "slatefile.json")
        #expect(try first.hostd("disable", "x.crash").exit == .code(0))

        let environment = ["CRASH": "abort"]
        let second = try HostdRun(nil, in: folder, program: host, environment: environment).ready()
        #expect(try second.hostd("enable", "x.crash").exit != .code(0))
        #expect(try second.ended().exit == .signal(SIGABRT))
        let third = try HostdRun(nil, in: folder, program: host, environment: environment).ready()
        #expect(try third.hostd("status").output.contains("\ndisabled      x.crash\n"))
        #expect(try third.terminated().exit == .code(0))
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

    @Test(
        "an enabled module that cannot be launched stays disabled; a broken list changes nothing until the next start"
    )
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

        try folder.write("{", to: ".hostd/disabled.json")
        #expect(try run.hostd("reload").output == "nothing changed\n")
        #expect(
            try run.terminated().error.contains(
                "disabled modules stay disabled: '.hostd/disabled.json'"))
        let broken = try run.hostd("enable", "x.store")
        #expect(broken.exit == .code(74))
        #expect(
            broken.error.contains("'.hostd/disabled.json', which lists the disabled modules, is"))
        let next = try HostdRun(nil, in: folder).ready()
        #expect(
            try next.terminated().error.contains("no module is disabled: '.hostd/disabled.json'"))
    }
}
