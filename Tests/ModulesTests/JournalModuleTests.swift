import Glibc
import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("JournalModule", .timeLimit(.minutes(10)))
struct JournalModuleTests {
    private func slatefile(
        config: String = "{}", isolated: Bool = false, others: String = ""
    ) -> String {
        ModulesTests.slatefile(
            "com.mm.journal", "Modules.JournalModule", config: config, isolated: isolated,
            others: others)
    }

    /// The lines of a journal, each without its time, whose form is checked.
    private func lines(_ journal: String) throws -> [String] {
        try #require(journal.hasSuffix("\n"))
        let day = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
        return try journal.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { line in
                _ = try JSONValue(parsing: String(line))
                let prefix = try #require(line.prefixMatch(of: /{"time":"([^"]*)",/))
                #expect(prefix.1.wholeMatch(of: day) != nil)
                return "{" + line[prefix.range.upperBound...]
            }
    }

    private func events(_ journal: String) throws -> [String] {
        try lines(journal).compactMap { try JSONValue(parsing: $0)["event"]?.string }
    }

    @Test(
        "every event is a line, with what it has of payload and origin, in whatever process",
        arguments: [false, true])
    func everyEvent(isolated: Bool) async throws {
        let folder = try TemporaryFolder()
        let mine = Origin.signal(name: "RTMIN+1", uid: 1000, pid: 4711, value: -7)
        let plain = Origin.signal(name: "USR1", uid: 1000, pid: 4711, value: nil)
        let terminal = Origin.signal(name: "INT", uid: nil, pid: nil, value: nil)
        try await TestHost.run(
            slatefile: slatefile(isolated: isolated), .init(folder: folder, executable: "hostd")
        ) { app in
            try await app.deliver(.push, #"{ "aps": { "badge": 3 } }"#, from: mine)
            try await app.deliver(.pushRegistered, #"{ "deviceToken": "00ff" }"#)
            try await app.deliver(.pushRegistrationFailed, #"{ "error": "no" }"#)
            try await app.deliver(.notificationSettings, #"{ "badge": true }"#)
            try await app.deliver(.localNotification, #"{ "id": "tea" }"#)
            try await app.deliver(.openURL, #"{ "url": "slate://a" }"#)
            try await app.deliver(.userActivity, #"{ "type": "a.b" }"#)
            try await app.deliver(.shortcut, #"{ "type": "new" }"#)
            try await app.deliver(
                .message, #"{ "topic": "user.signed-in" }"#,
                from: .local(try ModuleID("com.mm.main")))
            try await app.deliver(.memoryWarning, from: terminal)
            try await app.deliver(.background, from: plain)
            try await app.deliver(.foreground)
            try await app.reload()
        }
        #expect(
            try lines(folder.text(of: "journal.ndjson")) == [
                #"{"event":"launch","origin":{"kind":"host"}}"#,
                #"{"event":"activate","origin":{"kind":"host"}}"#,
                #"{"event":"push","payload":{"aps":{"badge":3}},"#
                    + #""origin":{"kind":"signal","name":"RTMIN+1","uid":1000,"pid":4711,"#
                    + #""value":-7}}"#,
                #"{"event":"push-registered","payload":{"deviceToken":"00ff"},"#
                    + #""origin":{"kind":"host"}}"#,
                #"{"event":"push-registration-failed","payload":{"error":"no"},"#
                    + #""origin":{"kind":"host"}}"#,
                #"{"event":"notification-settings","payload":{"badge":true},"#
                    + #""origin":{"kind":"host"}}"#,
                #"{"event":"local-notification","payload":{"id":"tea"},"#
                    + #""origin":{"kind":"host"}}"#,
                #"{"event":"open-url","payload":{"url":"slate://a"},"origin":{"kind":"host"}}"#,
                #"{"event":"user-activity","payload":{"type":"a.b"},"origin":{"kind":"host"}}"#,
                #"{"event":"shortcut","payload":{"type":"new"},"origin":{"kind":"host"}}"#,
                #"{"event":"message","payload":{"topic":"user.signed-in"},"#
                    + #""origin":{"kind":"local","module":"com.mm.main"}}"#,
                #"{"event":"memory-warning","origin":{"kind":"signal","name":"INT"}}"#,
                #"{"event":"resign-active","#
                    + #""origin":{"kind":"signal","name":"USR1","uid":1000,"pid":4711}}"#,
                #"{"event":"background","#
                    + #""origin":{"kind":"signal","name":"USR1","uid":1000,"pid":4711}}"#,
                #"{"event":"foreground","origin":{"kind":"host"}}"#,
                #"{"event":"activate","origin":{"kind":"host"}}"#,
                #"{"event":"configuration-changed","origin":{"kind":"host"}}"#,
                #"{"event":"resign-active","origin":{"kind":"host"}}"#,
                #"{"event":"background","origin":{"kind":"host"}}"#,
                #"{"event":"terminate","origin":{"kind":"host"}}"#,
            ])
    }

    @Test("it receives every kind of event there is")
    func allKinds() async throws {
        let folder = try TemporaryFolder()
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            for kind in EventKind.allCases where !kind.isHostsOwn && kind != .terminate {
                // One without meaning in the state of the app is delivered in another.
                _ = try? await app.deliver(kind, kind.examplePayload)
            }
            try await app.reload()
        }
        #expect(
            Set(try events(folder.text(of: "journal.ndjson")))
                == Set(EventKind.allCases.map(\.rawValue)))
    }

    @Test("a payload is one line without its white space, and says the same")
    func payload() async throws {
        let payload = #"""
            { "a" : [ 1.50, -0, true, null, "ü\n\u2028 \ud83d\ude00" ],
              "b" : { "" : { } } , "c" : [ ] }
            """#
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.deliver(.push, payload)
            let line = try #require(try lines(app.folder.text(of: "journal.ndjson")).last)
            let written = try #require(try JSONValue(parsing: line)["payload"])
            #expect(written == (try JSONValue(parsing: payload)))
            #expect(
                written.text
                    == #"{"a":[1.50,-0,true,null,"ü\n\u2028 😀"],"b":{"":{}},"c":[]}"#)
        }
    }

    @Test("a string from the environment is not written")
    func secret() throws {
        let text = ModulesTests.slatefile(
            "com.mm.any", "Modules.PushModule", config: #"{ "uriKey": "a ${SECRET}" }"#)
        let slatefile = try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in "s3cret" })
        let event = try LifecycleEvent(.push, payload: slatefile.modules[1].config, origin: .host)
        var writer = JSONWriter()
        writer.journalLine(of: event, at: WallTime(seconds: 0))
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","event":"push","payload":{"uriKey":"•••"},"#
                + #""origin":{"kind":"host"}}"# + "\n")
    }

    @Test(
        "each remote origin by its kind, with what is known of the sender",
        arguments: [
            (
                Origin.control(uid: 1000, pid: 4711),
                #"{"kind":"control","uid":1000,"pid":4711}"#
            ),
            (.inbox, #"{"kind":"inbox"}"#),
            (.push, #"{"kind":"push"}"#),
        ])
    func origins(origin: Origin, json: String) throws {
        var writer = JSONWriter()
        writer.journalLine(
            of: try LifecycleEvent(.memoryWarning, origin: origin), at: WallTime(seconds: 0))
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","event":"memory-warning","#
                + #""origin":\#(json)}"# + "\n")
    }

    @Test(
        "a durable event has its id and its position, and its attempt where that is not the first",
        arguments: [
            (nil, 1, #""id":"3:4096","position":"3:4096""#),
            ("order-17", 1, #""id":"order-17","position":"3:4096""#),
            ("order-17", 2, #""id":"order-17","position":"3:4096","attempt":2"#),
        ] as [(String?, Int, String)])
    func durable(id: String?, attempt: Int, members: String) throws {
        let entry = InboxEntry(
            position: EventPosition(segment: 3, offset: 4096),
            end: EventPosition(segment: 3, offset: 4200), id: id, attempt: attempt)
        let event = try LifecycleEvent(.push, payload: JSONValue(parsing: "{}"), origin: .inbox)
        var writer = JSONWriter()
        writer.journalLine(of: event.standing(at: entry), at: WallTime(seconds: 0))
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","event":"push",\#(members),"payload":{},"#
                + #""origin":{"kind":"inbox"}}"# + "\n")
    }

    @Test("a token is not written, wherever a payload has its URL")
    func tokens() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.deliver(.openURL, #"{"url": "s://a?token=s3cret&x=1"}"#, from: .inbox)
            try await app.deliver(.push, #"{"uri": ["s://a?x=1&%74oken=s3cret"]}"#)
            try await app.deliver(
                .userActivity, #"{"type": "a.b", "url": "https://a?\u0074oken=s3cret"}"#)
            try await app.deliver(.message, #"{"topic": "t", "payload": "?token=s3cret"}"#)
            let journal = try app.folder.text(of: "journal.ndjson")
            #expect(!journal.contains("s3cret"))
            for payload in [
                #"{"url":"s://a?x=1"}"#, #"{"uri":["s://a?x=1&%74oken=•••"]}"#,
                #"{"type":"a.b","url":"https://a?token=•••"}"#,
                #"{"topic":"t","payload":"?token=•••"}"#,
            ] {
                #expect(journal.contains(#""payload":\#(payload),"#))
            }
            #expect(!app.log.records.contains { $0.message.contains("s3cret") })
        }
    }

    @Test("claims go on to the next module")
    func claims() async throws {
        let claimer = #", { "id": "com.mm.claimer", "entry": "ModulesTests.Claimer" }"#
        try await TestHost.run(slatefile: slatefile(others: claimer)) { app in
            try await app.deliver(.openURL, #"{ "url": "slate://userInfo" }"#)
            #expect(app.outcome(of: .openURL) == "2 modules, claimed by com.mm.claimer")
        }
    }

    // MARK: The file

    @Test("only its owner can read it")
    func permissions() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            let mode = try app.folder.mode(of: "journal.ndjson")
            #expect(mode == 0o600)
        }
    }

    @Test("a relative file lies in the state directory, an absolute one anywhere")
    func file() async throws {
        let folder = try TemporaryFolder()
        for path in ["events.ndjson", folder.path("elsewhere")] {
            try await TestHost.run(
                slatefile: slatefile(config: #"{ "file": "\#(path)" }"#), .init(folder: folder)
            ) {
                _ in
            }
        }
        #expect(try events(folder.text(of: "events.ndjson")).first == "launch")
        #expect(try events(folder.text(of: "elsewhere")).first == "launch")
    }

    @Test("it goes on behind what is there", arguments: [false, true])
    func append(sync: Bool) async throws {
        let folder = try TemporaryFolder()
        for _ in 1...2 {
            try await TestHost.run(
                slatefile: slatefile(config: #"{ "sync": \#(sync) }"#), .init(folder: folder)
            ) {
                _ in
            }
        }
        let run = ["launch", "activate", "resign-active", "background", "terminate"]
        #expect(try events(folder.text(of: "journal.ndjson")) == run + run)
    }

    @Test("a line that a crash tore off does not spoil the next")
    func tornTail() async throws {
        let folder = try TemporaryFolder()
        let torn = #"{"time":"2026-03-01T09:41:00.123Z","eve"#
        try folder.write(torn, to: "journal.ndjson")
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { _ in }
        let text = try folder.text(of: "journal.ndjson")
        #expect(text.hasPrefix(torn + "\n{"))
        #expect(try events(String(text.dropFirst(torn.count + 1))).first == "launch")
    }

    @Test("after a rotation, HUP begins the file anew; until then the old one is written")
    func rotation() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try app.folder.move("journal.ndjson", to: "journal.1")
            try await app.deliver(.push, "{}")
            try await app.reload()
            try await app.deliver(.memoryWarning)
            #expect(try events(app.folder.text(of: "journal.1")) == ["launch", "activate", "push"])
            #expect(
                try events(app.folder.text(of: "journal.ndjson"))
                    == ["configuration-changed", "memory-warning"])
        }
    }

    @Test("a changed file is taken at once")
    func changedFile() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.reload("com.mm.journal", config: #"{ "file": "other" }"#)
            #expect(try events(app.folder.text(of: "other")) == ["configuration-changed"])
        }
    }

    @Test("where the file cannot be reopened, the journal goes on in the one it has")
    func failedReopening() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.reload("com.mm.journal", config: #"{ "file": "none/journal" }"#)
            try await app.deliver(.memoryWarning)
            #expect(
                app.messages(of: "com.mm.journal") == [
                    "failed: cannot open '\(app.folder.path)/none/journal': No such file or "
                        + "directory; make its folder, or give another 'file' in this module's "
                        + "config"
                ])
            #expect(
                try events(app.folder.text(of: "journal.ndjson"))
                    == ["launch", "activate", "configuration-changed", "memory-warning"])
        }
    }

    @Test("a file whose folder is not there is an error that says what to do")
    func missingFolder() async throws {
        try await TestHost.run(slatefile: slatefile(config: #"{ "file": "none/journal" }"#)) {
            app in
            #expect(
                app.messages(of: "com.mm.journal") == [
                    "launch failed; the app continues without it: cannot open "
                        + "'\(app.folder.path)/none/journal': No such file or directory; make its "
                        + "folder, or give another 'file' in this module's config"
                ])
        }
    }

    @Test("a file that is a folder is an error that says what to do")
    func folder() async throws {
        try await TestHost.run(slatefile: slatefile(config: #"{ "file": "." }"#)) { app in
            #expect(
                app.messages(of: "com.mm.journal") == [
                    "launch failed; the app continues without it: cannot open "
                        + "'\(app.folder.path)/.': Is a directory; give a file in that folder as "
                        + "'file' in this module's config"
                ])
        }
    }

    @Test(
        "a link that another user put in its place is not followed",
        .enabled("only root can make a link of another user's") { geteuid() == 0 })
    func foreignLink() async throws {
        let folder = try TemporaryFolder()
        try #require(symlink(folder.path("target"), folder.path("journal.ndjson")) == 0)
        try #require(lchown(folder.path("journal.ndjson"), 65_534, 65_534) == 0)
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            #expect(
                app.messages(of: "com.mm.journal") == [
                    "launch failed; the app continues without it: cannot open "
                        + "'\(app.folder.path)/journal.ndjson': user 65534 made this symbolic link, "
                        + "which is not followed; remove it, or give another 'file' in this "
                        + "module's config"
                ])
        }
        #expect(!folder.names.contains("target"))
    }

    @Test("for a limit of the process or the system, the remedy is a higher limit")
    func limits() {
        let process = OutputFileError(FileError("open", "x", .tooManyOpenFiles))
        #expect(
            process.description == "cannot open 'x': Too many open files; let this process have "
                + "more open files (ulimit -n)")
        let system = OutputFileError(FileError("open", "x", .tooManyOpenFilesInSystem))
        #expect(
            system.description == "cannot open 'x': Too many open files in system; let the "
                + "whole system have more open files (sysctl fs.file-max)")
        let size = OutputFileError(FileError("write", "x", SystemError(code: EFBIG)))
        #expect(
            size.description
                == "cannot write 'x': File too large; let this process write larger files "
                + "(ulimit -f)")
    }

    @Test("a full disk fails at each event, and keeps it from no other module")
    func fullDisk() async throws {
        let push = #", { "id": "com.mm.push", "entry": "Modules.PushModule" }"#
        try await TestHost.run(slatefile: slatefile(others: push)) { app in
            let report =
                "failed: cannot write '/dev/full': No space left on device; make room on that disk"
            try await app.reload("com.mm.journal", config: #"{ "file": "/dev/full" }"#)
            try await app.deliver(.push, #"{ "aps": { "badge": 1 } }"#)
            #expect(app.messages(of: "com.mm.journal") == [report, report])
            #expect(app.outcome(of: .push) == "1 module, 1 failed, newData")
        }
    }

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (#"{ "file": "" }"#, "/file: a file's path cannot be empty or hold a NUL"),
            (#"{ "file": "a\u0000b" }"#, "/file: a file's path cannot be empty or hold a NUL"),
            (#"{ "file": 5 }"#, "/file: expected a string, found the number 5"),
            (#"{ "sync": "yes" }"#, #"/sync: expected true or false, found the string "yes""#),
            (#"{ "fil": "a" }"#, "/fil: unknown key 'fil'; did you mean 'file'?"),
        ])
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }
}

/// A module that claims every URL.
final class Claimer: URLResponder {
    init(context: ModuleContext) {}

    func open(_ url: String, options: OpenURLOptions) -> Bool { true }
}
