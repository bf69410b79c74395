import Testing

@testable import ModuleHostCore

@Suite("Signal table")
struct SignalTableTests {
    private func table(
        _ holder: PidFile.Holder, in folder: String = ".hostd"
    ) throws -> SignalTable {
        SignalTable(
            [
                .terminate: .event(.terminate, payload: nil), .hangUp: .reload,
                .user1: .event(.background, payload: nil),
                try SignalName("RTMIN+2"): .openURL("slate://a/b?x=1&token=secret&y=2"),
                try SignalName("RTMIN+1"): .event(.push, payload: try JSONValue(parsing: "{}")),
                try SignalName("RTMIN+10"): .message(topic: "a.b", payload: nil),
            ], stateDirectory: StateDirectory(path: folder), holder: holder)
    }

    @Test("for a host that runs: its number in each command")
    func running() throws {
        #expect(
            try table(.host(processID: 42)).text.string == """
                signal    does                                                 command
                HUP       reload the slatefile                                 kill -HUP 42
                USR1      background                                           kill -USR1 42
                TERM      stop the host, exit 0; a second one ends it at once  kill -TERM 42
                RTMIN+1   push, with a payload                                 kill -RTMIN+1 42
                RTMIN+2   open-url slate://a/b?x=1&token=•••&y=2               kill -RTMIN+2 42
                RTMIN+10  message to 'a.b'                                     kill -RTMIN+10 42

                A host runs on .hostd, as process 42.
                Of many standard signals sent at once, some may count as one.
                Real-time signals (RTMIN+1 and up) are queued: each one counts, in order.
                The lower number goes first: a TERM overtakes real-time signals still queued.
                Where the queue is full (RLIMIT_SIGPENDING), sigqueue fails with EAGAIN;
                those that kill sends are lost in silence.

                """)
    }

    @Test("for a host to come: where its number will be")
    func notRunning() throws {
        let table = try table(.nobody)
        #expect(table.command(for: table.rows[0]) == "kill -HUP $(cat .hostd/hostd.pid)")
        #expect(table.text.string.contains("\nNo host runs on .hostd.\n"))
        let spaced = try self.table(.nobody, in: "it's here")
        #expect(
            spaced.command(for: spaced.rows[0]) == #"kill -HUP $(cat 'it'\''s here/hostd.pid')"#)
    }

    @Test("for a state directory of another user")
    func unknown() throws {
        let table = try table(.unknown)
        #expect(table.command(for: table.rows[0]) == "kill -HUP $(cat .hostd/hostd.pid)")
        #expect(
            table.text.string.contains(
                "\nWhether a host runs on .hostd is not known: it is another user's.\n"))
        #expect(
            String(decoding: table.json, as: UTF8.self)
                .hasPrefix(#"{"stateDirectory":".hostd","signals":["#))
    }

    @Test("for programs")
    func json() throws {
        let text = String(decoding: try table(.host(processID: 42)).json, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"stateDirectory":".hostd","pid":42,"running":true,"signals":["#
                    + #"{"signal":"HUP","number":1,"does":"reload the slatefile","#
                    + #""queued":false,"command":"kill -HUP 42"},"#))
        #expect(text.contains(#""signal":"RTMIN+1","number":\#(try SignalName("RTMIN+1").number)"#))
        #expect(text.hasSuffix("]}\n"))
        #expect(!text.contains("secret"))
        let none = String(decoding: try table(.nobody).json, as: UTF8.self)
        #expect(none.hasPrefix(#"{"stateDirectory":".hostd","running":false,"#))
    }

    @Test(
        "words of the shell",
        arguments: [
            ("a/b-c_d.e", "a/b-c_d.e"), ("", "''"), ("a b", "'a b'"), ("$x", "'$x'"),
            ("it's", #"'it'\''s'"#), ("ü", "'ü'"), ("a\nb", "'a\nb'"),
        ])
    func quoting(text: String, quoted: String) { #expect(shellQuoted(text) == quoted) }
}
