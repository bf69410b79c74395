import Glibc
import ModuleHost
import TestSupport
import Testing

/// `hostd inbox` on the files of an inbox, and beside a host.
@Suite("hostd inbox", .timeLimit(.minutes(10)))
struct InboxCommandTests {
    private static let usage = "see 'hostd inbox --help'\n"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func inbox(_ arguments: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(["inbox"] + arguments, in: folder.path)
    }

    private var files: InboxFolder {
        InboxFolder(in: StateDirectory(path: folder.path(".hostd")))
    }

    @discardableResult
    private func append(_ lines: String...) throws -> [EventPosition] {
        try files.make()
        return try InboxWriter(files).append(lines.map { Array($0.utf8) })
    }

    private func reject(
        _ line: String, at position: EventPosition, id: String? = nil, module: String? = nil,
        _ reason: String = "it was in the way"
    ) throws {
        try files.make()
        try DeadLetters(files).append([
            DeadLetter(
                time: WallTime(seconds: 1_772_358_060, nanoseconds: 5_000_000), reason: reason,
                position: position, id: id, modules: module.map { [try ModuleID($0)] },
                line: Array(line.utf8))
        ])
    }

    private func position(_ offset: UInt32) -> EventPosition {
        EventPosition(segment: 1, offset: offset)
    }

    // MARK: The command line

    private static let help =
        "'hostd inbox retry POSITION' delivers one once more, '… drop POSITION' removes it"

    @Test(
        "what makes no sense",
        arguments: [
            (
                ["lst"],
                "'lst' is not a valid ACTION: it is list, retry, drop or path; did you mean 'list'?"
            ),
            (
                ["drop"],
                "which events? name positions or ids, as 'hostd inbox list' shows them, or --all"
            ),
            (["retry", "1:1", "--all"], "events are named, and '--all' is given"),
            (["list", "1:1"], "'list' takes no event; 'retry' and 'drop' do"),
            (["--all"], "'--all' is for retry and drop"),
            (["drop", "--all", "--limit", "1"], "'--limit' is for list"),
            (["--limit", "x"], "'x' is not a value of '--limit', which takes a whole number"),
            (["--limit", "-1"], "'-1' is not a value of '--limit', which takes a whole number"),
        ])
    func usage(arguments: [String], message: String) throws {
        let outcome = try HostProcess.run(["inbox"] + arguments, in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        #expect(outcome.error == "hostd inbox: \(message)\n" + Self.usage)
    }

    @Test("where there is no inbox: 66", arguments: ["list", "retry", "drop"])
    func missing(action: String) throws {
        let outcome = try HostProcess.run(
            ["inbox", action] + (action == "list" ? [] : ["--all"]), in: folder.path)
        #expect(outcome.exit == .code(66))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd inbox: the state directory '.hostd' has no inbox: no host ran there

                """)
        #expect(folder.names == [])
    }

    @Test(
        "an inbox of another user: 77", .enabled(if: CommandTests.canRunAsNobody && getuid() == 0),
        arguments: ["list", "retry", "drop"])
    func otherUser(action: String) throws {
        try files.make()
        try #require(chmod(folder.path, 0o755) == 0)
        let outcome = try HostProcess.run(
            ["inbox", action] + (action == "list" ? [] : ["--all"]), in: folder.path,
            userID: CommandTests.nobody)
        #expect(outcome.exit == .code(77))
        #expect(
            outcome.error == """
                hostd inbox: the inbox of the state directory '.hostd' is another user's; only that \
                user and root may use it

                """)
        // The same user cannot know either whether a host runs, or what its crashes are.
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let signals = try HostProcess.run(
            ["signals"], in: folder.path, userID: CommandTests.nobody)
        #expect(
            signals.output.contains(
                "\nWhether a host runs on .hostd is not known: it is another user's.\n"))
        let reset = try HostProcess.run(
            ["modules", "--reset-crashes", "x.main"], in: folder.path, userID: CommandTests.nobody)
        #expect(
            reset.error
                == "hostd modules: '.hostd/isolated.json', which counts the deaths of hosts, may not be "
                + "read by this user; only the user of the host and root may\n")
    }

    @Test("path: where any program may append")
    func path() throws {
        let path = folder.path(".hostd/inbox")
        #expect(try inbox("path").output == "\(path)\n")
        #expect(try inbox("path", "--json").output == #"{"path":"\#(path)"}"# + "\n")
        #expect(folder.names == [])
    }

    // MARK: list

    @Test("list: what is not done, for whom, and what was rejected")
    func list() throws {
        try files.make()
        #expect(try inbox("list").output == "0 pending\n0 dead letters\n")
        let places = try append(
            #"{"event":"push","payload":{"aps":{}},"id":"a"}"#,
            #"{"event":"push","payload":{"aps":{}},"id":"b","time":"2026-03-01T09:41:00Z"}"#,
            #"{"event":"message","payload":{"topic":"t"},"modules":["x.b","x.c"]}"#,
            #"{"event":"psh","id":"\u001b[31m"}"#)
        var cursor = InboxCursor(
            next: places[2],
            modules: [try ModuleID("x.b"): places[1], try ModuleID("x.a"): places[1]])
        try cursor.store(in: files)
        try reject(
            #"{"event":"open-url","payload":{"url":"a://b?x=1\u0026token=secret"},"id":"c"}"#,
            at: position(7), id: "c")
        try reject("hello?token=secret\u{1b}", at: position(9), module: "x.b", "no\nJSON")
        let outcome = try inbox()
        #expect(outcome.error == "")
        #expect(
            outcome.output == """
                3 pending
                  position  event    id  time                  modules
                  1:48      push     b   2026-03-01T09:41:00Z  x.a, x.b
                  1:125     message                            x.b, x.c
                  1:193     ?
                    to be moved to the dead letters: unknown event 'psh'; did you mean 'push'?
                2 modules behind
                  module  from
                  x.a     1:48
                  x.b     1:48
                2 dead letters
                  position  event     id  moved                     reason
                  1:7       open-url  c   2026-03-01T09:41:00.005Z  it was in the way
                  1:9       ?             2026-03-01T09:41:00.005Z  x.b: no\u{FFFD}JSON
                \(Self.help)

                """)
        #expect(
            try inbox("--limit", "1").output == """
                3 pending
                  position  event  id  time                  modules
                  1:48      push   b   2026-03-01T09:41:00Z  x.a, x.b
                  … and 2 more; '--limit N' shows more
                2 modules behind
                  module  from
                  x.a     1:48
                  x.b     1:48
                2 dead letters
                  position  event     id  moved                     reason
                  1:7       open-url  c   2026-03-01T09:41:00.005Z  it was in the way
                  … and 1 more; '--limit N' shows more
                \(Self.help)

                """)
        let letters =
            #"{"count":2,"unreadable":0,"events":[{"position":"1:7","id":"c","#
            + #""time":"2026-03-01T09:41:00.005Z","reason":"it was in the way","#
            + #""record":{"event":"open-url","payload":{"url":"a://b?x=1&token=•••"},"id":"c"}},"#
            + #"{"position":"1:9","time":"2026-03-01T09:41:00.005Z","reason":"no\nJSON","#
            + #""modules":["x.b"],"line":"hello?token=•••"}]}"#
        #expect(
            try inbox("--json", "--limit=2").output
                == #"{"pending":{"count":3,"next":"1:125","behind":{"x.a":"1:48","x.b":"1:48"},"#
                + #""events":[{"position":"1:48","event":"push","#
                + #""id":"b","time":"2026-03-01T09:41:00Z","modules":["x.a","x.b"]},"#
                + #"{"position":"1:125","event":"message","modules":["x.b","x.c"]}]},"#
                + #""deadLetters":\#(letters)}"# + "\n")
        try folder.write("{", to: ".hostd/inbox/cursor")
        try folder.write("?", to: ".hostd/inbox/dead-letters.ndjson")
        let broken = try inbox("--limit", "0")
        #expect(
            broken.output == """
                4 pending
                  … and 4 more; '--limit N' shows more
                0 dead letters

                """)
        #expect(broken.error.hasPrefix("hostd inbox: the cursor '.hostd/inbox/cursor' is broken ("))
        #expect(
            broken.error.hasSuffix(
                "\nhostd inbox: not as a host writes them, and left alone: lines of dead-letters.ndjson, "
                    + "1 of them\n"))
    }

    @Test("list: a hundred thousand events")
    func many() throws {
        try append("{}")
        let line = #"{"event":"push","payload":{"aps":{}}}"#
        var writer = try InboxWriter(files)
        for _ in 0..<100 {
            _ = try writer.append(Array(repeating: Array(line.utf8), count: 1000))
        }
        writer = try InboxWriter(files)
        let outcome = try inbox("--limit", "2")
        #expect(
            outcome.output == """
                100001 pending
                  position  event  id  time  modules
                  1:1       ?
                    to be moved to the dead letters: 'event' is missing: the name of an event,
                    such as "push"
                  1:5       push             all
                  … and 99999 more; '--limit N' shows more
                0 dead letters

                """)
    }

    @Test("list: beside a host, whose overdue module has not received an event yet")
    func overdue() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "50ms", "stopAll": "1h", "stop": "1h"}"#)
        pipe.fill()
        let outcome = try run.folder.send(["push", "--payload", "{}", "--wait"])
        #expect(outcome.output == "accepted 1:1: no module, 1 unresponsive, failed\n")
        // The host that has no cursor yet goes by none; it writes one within a second.
        var text = ""
        let behind = "1 module behind\n  module     from\n  x.journal  1:1\n0 dead letters\n"
        while !text.contains(behind) { text = try run.hostd("inbox").output }
        #expect(text.hasPrefix("1 pending\n"))
        pipe.empty()
        while try run.countPending() != 0 {}
    }

    @Test("a command that waits for the lock of the inbox names the process that has it")
    func locked() throws {
        try files.make()
        let lock = try Descriptor(lockFile: files.lockPath)
        for arguments in [["inbox"], ["send", "push", "--payload", "{}"]] {
            try lock.lock(.exclusive)
            let command = try HostProcess(arguments, in: folder.path)
            let path = ".hostd/inbox/inbox.lock"
            #expect(
                try command.waitForLine(containing: "waiting")
                    == "hostd \(arguments[0]): waiting for process \(CurrentProcess.id), which has locked '\(path)'"
            )
            let isFree = lock.unlock()
            #expect(isFree)
            #expect(try command.waitForExit().exit == .code(0))
        }
    }

    // MARK: retry and drop

    @Test("drop: what cannot be printed is not removed", arguments: [[], ["--json"]])
    func dropWithoutOutput(options: [String]) throws {
        try reject("hello", at: position(50), "no JSON")
        let letters = try folder.text(of: ".hostd/inbox/dead-letters.ndjson")
        let outcome = try HostProcess.run(
            ["inbox", "drop", "--all"] + options, in: folder.path, output: .file("/dev/full"))
        #expect(outcome.exit == .code(74))
        #expect(
            outcome.error == """
                hostd: cannot write to stdout: No space left on device
                hostd inbox: nothing was dropped, since it cannot be printed

                """)
        #expect(try folder.text(of: ".hostd/inbox/dead-letters.ndjson") == letters)
    }

    @Test("drop: takes what is named, and shows it; the rest stays")
    func drop() throws {
        try reject(#"{"event":"push","payload":{"aps":{}},"id":"a"}"#, at: position(1), id: "a")
        try reject("hello", at: position(50), "no JSON")
        try reject(
            #"{"event":"open-url","payload":{"url":"a://b?token=secret"}}"#, at: position(60),
            module: "x.b")
        let unknown = try inbox("drop", "a", "1:51", "zz")
        #expect(unknown.exit == .code(69))
        #expect(unknown.output == "")
        #expect(
            unknown.error == """
                hostd inbox: no dead letter has the position or id '1:51', 'zz'; nothing was dropped
                see 'hostd inbox list'

                """)
        let dropped = try inbox("drop", "a", "1:60")
        #expect(dropped.exit == .code(0))
        #expect(
            dropped.output == """
                dropped 1:1 push a: it was in the way
                  {"event":"push","payload":{"aps":{}},"id":"a"}
                dropped 1:60 open-url for x.b: it was in the way
                  {"event":"open-url","payload":{"url":"a://b?token=•••"}}

                """)
        #expect(
            try inbox("drop", "--all", "--json").output
                == #"{"dropped":[{"position":"1:50","time":"2026-03-01T09:41:00.005Z","#
                + #""reason":"no JSON","line":"hello"}]}"# + "\n")
        #expect(try inbox("drop", "--all").output == "no dead letters\n")
        #expect(try inbox("retry", "--all").output == "no dead letters\n")
    }

    @Test("retry: many at once retry each event once")
    func retryAtOnce() throws {
        for offset in 1...20 {
            let line = #"{"event":"push","payload":{"aps":{"badge":\#(offset)}}}"#
            try reject(line, at: position(UInt32(offset)))
        }
        let processes = try (0..<4).map { _ in
            try HostProcess(["inbox", "retry", "--all"], in: folder.path)
        }
        for process in processes { #expect(try process.waitForExit().exit == .code(0)) }
        #expect(try InboxReader(files).next(atMost: 100).count == 20)
        #expect(try DeadLetters(files).contents().events == [])
    }

    @Test("retry: stands in the inbox again, for whom it was meant; what is no event stays")
    func retry() throws {
        try reject(#"{"event":"push","payload":{"aps":{}},"id":"a"}"#, at: position(1), id: "a")
        try reject(
            #"{"event":"push","payload":{"aps":{}},"id":"b"}"#, at: position(50), id: "b",
            module: "x.b")
        try reject(#"{"event":"psh"}"#, at: position(90))
        let outcome = try inbox("retry", "--all")
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.output == """
                retried 1:1 push a as 1:1
                retried 1:50 push b for x.b as 1:63

                """)
        #expect(
            outcome.error == """
                hostd inbox: 1:90 psh cannot be retried: unknown event 'psh'; did you mean 'push'?
                send it again as it should be, and drop this one

                """)
        #expect(
            try folder.text(of: ".hostd/inbox/00000001.ndjson") == """

                {"event":"push","payload":{"aps":{}},"id":"a","retried":true}
                {"event":"push","payload":{"aps":{}},"id":"b","modules":["x.b"],"retried":true}

                """)
        let rest = try inbox("retry", "1:90", "--json")
        #expect(rest.exit == .code(70))
        #expect(rest.output == #"{"retried":[]}"# + "\n")
        try reject(#"{"event":"push","payload":{"aps":{}},"id":"a"}"#, at: position(1), id: "a")
        let json = try inbox("retry", "a", "--json")
        #expect(json.exit == .code(0))
        #expect(
            json.output.hasPrefix(#"{"retried":[{"position":"1:1","id":"a","as":"1:"#))
        #expect(
            try inbox("--limit", "0").output.hasSuffix(
                "\n1 dead letter\n  … and 1 more; '--limit N' shows more\n"))
    }

    @Test("retry: an event for a module that is not there stays a dead letter")
    func retryWithoutModule() throws {
        let run = try HostdRun(HostdRun.slatefile(), in: folder).ready()
        try reject(
            #"{"event":"push","payload":{"aps":{}},"id":"b"}"#, at: position(1), id: "b",
            module: "x.gone")
        #expect(try inbox("retry", "b").exit == .code(0))
        try run.process.waitForLine(
            containing: "to the dead letters: module 'x.gone' is disabled, or not in the slatefile")
        let listed = try inbox("--json").output
        #expect(listed.contains(#""modules":["x.gone"]"#), "\(listed)")
        let story = try HostProcess.run(["why", "b"], in: folder.path).output
        #expect(story.contains("dead letter"), "\(story)")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents().filter { $0 == "push" }.isEmpty)
    }

    @Test("retry: an event that was rejected is delivered, though its id was seen")
    func retryDelivers() throws {
        let run = try HostdRun(HostdRun.slatefile(), in: folder).ready()
        let push = ["push", "--payload", #"{"aps":{}}"#, "--id", "a"]
        #expect(try folder.send(push + ["--wait"]).exit == .code(1))
        try reject(#"{"event":"push","payload":{"aps":{}},"id":"a"}"#, at: position(1), id: "a")
        #expect(try inbox("retry", "a").exit == .code(0))
        try run.waitForJournal(count: 2, of: "push")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents().filter { $0 == "push" }.count == 2)
        #expect(try inbox().output == "0 pending\n0 dead letters\n")
    }
}

extension HostdRun {
    /// Waits until the journal has so many events of a kind.
    fileprivate func waitForJournal(count: Int, of event: String) throws {
        let deadline = ContinuousClock.now + HostProcess.patience
        while try journaledEvents().filter({ $0 == event }).count < count {
            try #require(ContinuousClock.now < deadline, "the journal never had \(count) \(event)")
        }
    }
}
