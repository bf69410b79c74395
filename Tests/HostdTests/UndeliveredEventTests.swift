import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd send: events that come to nothing", .timeLimit(.minutes(10)))
struct UndeliveredEventTests {
    @Test("a change of state that means nothing is said to be ignored; --wait and --strict exit 1")
    func ignored() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        for (option, code) in [("", Int32(0)), ("--wait", 1), ("--strict", 1)] {
            let words = ["send", "foreground", option].filter { !$0.isEmpty }
            let outcome = try HostProcess.run(words, in: run.folder.path)
            #expect(outcome.output == "ignored: the app is active\n", "\(option)")
            #expect(outcome.exit == .code(code), "\(option)")
        }
        let delivered = try run.hostd("send", "background", "--strict")
        #expect(delivered.output == "delivered\n")
        #expect(delivered.exit == .code(0))
        #expect(try run.hostd("send", "foreground", "--strict").exit == .code(0))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a topic without a listener is said, by send and in the log")
    func topic() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "config": {"domain": "https://www.example.com"}, "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.community", "entry": "Modules.CommunityModule"}
            ]}
            """
        let run = try HostdRun(slatefile).ready()
        func send(_ topic: String) throws -> HostProcess.Outcome {
            try run.hostd(
                "send", "message", "--payload",
                #"{"topic": "\#(topic)", "payload": {"name": "mia"}}"#,
                "--wait")
        }
        let undelivered = try send("weather")
        let text = "no module listens to topic 'weather'"
        #expect(undelivered.output.hasSuffix(": \(text)\n"), "\(undelivered.output)")
        #expect(undelivered.exit == .code(1))
        try run.process.waitForLine(containing: " message  \(text) origin=")
        #expect(try send("user.signed-in").exit == .code(0))
        let push = try run.hostd("send", "push", "--payload", "{}", "--wait")
        #expect(push.output.hasSuffix(": no module responds to 'push'\n"), "\(push.output)")
        #expect(push.exit == .code(1))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("an event that only failed modules wait for is not delivered yet, and says which ones")
    func failedModules() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        let push = ["send", "push", "--payload", "{}", "--wait"]
        let text = "no module responds to 'push'; it waits for modules that do not run: x.journal"
        let sent = try HostProcess.run(push, in: run.folder.path)
        #expect(sent.output.hasSuffix(": \(text)\n"), "\(sent.output)")
        #expect(sent.exit == .code(75))
        try run.process.waitForLine(containing: " push  \(text) origin=")
        let json = try HostProcess.run(push + ["--json"], in: run.folder.path)
        #expect(json.output.contains(#""waitsFor":["x.journal"]"#), "\(json.output)")
        #expect(json.exit == .code(75))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a failed module that does not receive such an event is not what it waits for")
    func failedOthers() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.community", "entry": "Modules.CommunityModule"}
            ]}
            """
        let run = try HostdRun(slatefile).ready()
        #expect(try run.hostd("modules").output.contains("x.community  failed "))
        let rows: [(event: String, payload: String, text: String, code: Int32)] = [
            ("push", "{}", "no module responds to 'push'", 1),
            ("message", #"{"topic": "weather"}"#, "no module listens to topic 'weather'", 1),
            (
                "message", #"{"topic": "user.posted"}"#,
                "no module listens to topic 'user.posted'; it waits for modules that do not run: x.community",
                75
            ),
        ]
        for row in rows {
            let sent = try run.hostd("send", row.event, "--payload", row.payload, "--wait")
            #expect(sent.output.hasSuffix(": \(row.text)\n"), "\(sent.output)")
            #expect(sent.exit == .code(row.code), "\(row.text)")
        }
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a module that receives every event observes, also in a process of its own")
    func observers() throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.journal", "entry": "Modules.JournalModule"},
              {"id": "x.other", "entry": "Modules.JournalModule", "isolation": "process",
               "config": {"file": "other.ndjson"}},
              {"id": "x.metrics", "entry": "Modules.MetricsModule"}
            ]}
            """
        ).ready()
        let push = try run.hostd("send", "push", "--payload", "{}", "--wait", "--json")
        let outcome = try JSONValue(parsing: push.output)["outcome"]
        #expect(outcome?["undelivered"]?.string == "no module responds to 'push'")
        #expect(outcome?["delivered"]?.int == 3)
        #expect(push.exit == .code(1))
        let message = try run.hostd(
            "send", "message", "--payload", #"{"topic": "nobody.listens"}"#, "--wait")
        #expect(message.output.hasSuffix(": no module listens to topic 'nobody.listens'\n"))
        #expect(message.exit == .code(1))
        try run.process.waitForLine(
            containing: " message  no module listens to topic 'nobody.listens' origin=")
        // The topic '*' of an observer is never offered, however near.
        let short = try run.hostd("send", "message", "--payload", #"{"topic": "x"}"#, "--wait")
        #expect(short.output.hasSuffix(": no module listens to topic 'x'\n"))
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents().filter { $0 == "push" || $0 == "message" }.count == 3)
    }

    @Test("an event that waits for a failed module: 75, and 'status' counts it as 'inbox' does")
    func waitsForFailed() throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.push", "entry": "Modules.PushModule"},
              {"id": "x.broken", "entry": "Modules.JournalModule",
               "config": {"file": "none/journal.ndjson"}}
            ]}
            """
        ).ready()
        let push = ["send", "push", "--payload", #"{"aps": {}}"#, "--wait"]
        for count in 1...2 {
            let sent = try HostProcess.run(push, in: run.folder.path)
            #expect(
                sent.output.hasSuffix(
                    ": 1 module, noData, it waits for modules that do not run: x.broken\n"),
                "\(sent.output)")
            #expect(sent.exit == .code(75))
            #expect(try run.countPending() == count)
            let status = try run.hostd("status", "--json")
            let inbox = try JSONValue(parsing: status.output)["inbox"]
            #expect(inbox?["accepted"]?.int == count && inbox?["done"]?.int == 0)
            #expect(inbox?["position"]?.string == "1:1")
            #expect((inbox?["pendingBytes"]?.int ?? 0) > 0)
        }
        try makeFolders(run.folder.path(".hostd/none"))
        #expect(try run.hostd("restart", "x.broken").exit == .code(0))
        while try run.countPending() != 0 {}
        let status = try run.hostd("status")
        #expect(status.output.contains(", 0 bytes pending, 2 accepted, 2 done, "))
        #expect(try HostProcess.run(push, in: run.folder.path).exit == .code(0))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a stop that takes long says which module it waits for")
    func slowStop() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "1h"}"#)
        pipe.fill()
        run.process.send(SIGTERM)
        try run.process.waitForLine(
            containing: "the stop has taken 1s so far: x.journal is running")
        pipe.empty()
        #expect(try run.ended().exit == .code(0))
    }
}
