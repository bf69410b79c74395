import ModuleHostCore
import TestSupport
import Testing

/// What a newcomer sees who runs `hostd` beside the slatefile that this repository ships.
@Suite("The default slatefile", .timeLimit(.minutes(10)))
struct DefaultSlatefileTests {
    @Test("it is valid, and uses every built-in module")
    func valid() throws {
        let slatefile = try Slatefile.read(
            Array(Repository.slatefile().utf8), path: "slatefile.json",
            environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
        let entries = slatefile.modules.map(\.implementation)
        for name in ["Main", "Journal", "Metrics", "Push", "Community", "Browser"] {
            #expect(entries.contains(.entry("Modules.\(name)Module")))
        }
        for (signal, kind) in [("RTMIN+1", EventKind.push), ("RTMIN+4", .memoryWarning)] {
            let action = try slatefile.signals[SignalName(signal)]
            guard case .event(kind, payload: _) = action else {
                Issue.record("\(signal) is \(String(describing: action))")
                continue
            }
        }
        #expect(
            try slatefile.signals[SignalName("RTMIN+2")]
                == .openURL("slate://userInfo?style=1&color=green"))
        #expect(
            try slatefile.signals[SignalName("RTMIN+3")]
                == .message(
                    topic: "user.signed-in", payload: JSONValue(parsing: #"{ "name": "mia" }"#)))
    }

    @Test(
        "its URLs lead somewhere",
        arguments: [
            (
                "slate://com.mm.community/userInfo?style=1",
                #"{"posts":0,"style":1,"color":"green","#
            ),
            ("slate://userInfo?style=1&color=red", #"{"posts":0,"style":1,"color":"red","#),
            (
                "https://www.example.com/user/mia/posts?page=2",
                #"{"author":"mia","count":0,"posts":[],"#
                    + #""url":"https://www.example.com/user/mia/posts?page=2"}"#
            ),
            ("https://www.example.com/", #"{"shown":"https://www.example.com/"}"#),
            ("slate://nobody/knows", #"{"shown":"slate://nobody/knows"}"#),
        ])
    func urls(url: String, reply: String) async throws {
        try await TestHost.run(slatefile: Repository.slatefile()) { app in
            let found = await app.answer(url)
            #expect(found.hasPrefix(reply), "\(found)")
        }
    }

    @Test("its app becomes ready, runs start-up tasks of each priority, and stops")
    func run() async throws {
        let folder = try TemporaryFolder()
        let text = try Repository.slatefile()
        let count = try #require(JSONValue(parsing: text)["modules"]?.count)
        let end = try await TestHost.run(slatefile: text, .init(folder: folder)) { app in
            for task in [
                "com.mm.community/state", "com.mm.community/index", "com.mm.community/backup",
                "com.mm.metrics/first-write",
            ] {
                #expect(try await app.startupTask(task) == "start-up task \(task) succeeded")
            }
            #expect(app.messages(of: nil).contains("ready: \(count) modules"))
            #expect(!app.log.records.contains { $0.level > .notice })
            try await app.deliver(
                .push, #"{ "aps": { "badge": 1 }, "uri": "slate://com.mm.community/userInfo" }"#)
            try await app.deliver(.background)
        }
        #expect(end == .stopped)
        #expect(Set(folder.names).contains("journal.ndjson"))
        let events = try folder.text(of: "journal.ndjson").split(separator: "\n").map {
            try JSONValue(parsing: String($0))["event"]?.string
        }
        #expect(
            events == [
                "launch", "open-url", "activate", "push", "resign-active", "background",
                "terminate",
            ])
    }
}
