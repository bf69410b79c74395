import ModuleHost
import TestSupport
import Testing

/// What `hostd send` asks of a host and says of its answer, and what it refuses by itself.
@Suite("hostd send: the command line", .timeLimit(.minutes(10)))
struct SendCommandTests {
    private static let usage = "see 'hostd send --help'\n"

    @Test(
        "what makes no sense is refused before anything is looked for",
        arguments: [
            (
                [],
                """
                EVENT is missing: the event, such as push, open-url, message, or background
                usage: hostd send [--slatefile FILE] [--state-dir DIR] [--payload JSON]
                       [--id ID] [--source TEXT] [--traceparent TEXT] [--wait] [--strict]
                       [--json] EVENT
                """
            ),
            (["psuh"], "unknown event 'psuh'; did you mean 'push'?"),
            (
                ["xyzzy"],
                "unknown event 'xyzzy'; there are "
                    + EventKind.allCases.filter { !$0.isHostsOwn }.map(\.rawValue)
                    .joined(separator: ", ")
            ),
            (["launch"], "event 'launch' is given by the host itself, never from outside"),
            (
                ["configuration-changed"],
                "event 'configuration-changed' is given by the host itself, never from outside"
            ),
            (
                ["push"],
                "event 'push' needs a payload: --payload with JSON, @FILE, or - for stdin"
            ),
            (["background", "--payload", "{}"], "event 'background' takes no payload"),
            (
                ["push", "--payload", "{}", "--traceparent", "00-1"],
                "--traceparent expects \(TraceContext.expectation); found '00-1'"
            ),
            (["background", "--id", "a"], "event 'background' is not durable: it has no id"),
            (
                ["push", "--payload", "{}", "--id", String(repeating: "ü", count: 101)],
                "an id has 1 to 200 bytes; this one has 202"
            ),
        ])
    func usage(arguments: [String], message: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["send"] + arguments, in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        #expect(outcome.error == "hostd send: \(message)\n" + Self.usage)
    }

    @Test(
        "a payload that the event cannot take: its place, and nothing is written",
        arguments: [
            (
                "{\"aps\":\n{\"badge\": \"x\"}}",
                "event 'push' cannot take this payload: line 2, column 11 (/aps/badge): expected a "
                    + "whole number, found the string \"x\""
            ),
            (
                "{\"aps\":",
                "the payload is not JSON: line 1, column 8: the text ends inside the object that "
                    + "begins at line 1, column 1"
            ),
        ])
    func payload(text: String, message: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        try folder.write(text, to: "push.json")
        let rows: [(arguments: [String], input: String, name: String)] = [
            (["--payload", text], "", "the payload"),
            (["--payload", "@push.json"], "", "push.json"),
            (["--payload", "-"], "push.json", "the payload on stdin"),
        ]
        for (arguments, input, name) in rows {
            let outcome = try folder.send(["push"] + arguments, input: input)
            #expect(outcome.exit == .code(64))
            #expect(
                outcome.error
                    == "hostd send: "
                    + (message.hasPrefix("the payload")
                        ? name + message.dropFirst("the payload".count) : message) + "\n")
        }
        #expect(folder.names == ["push.json", "slatefile.json"])
    }

    @Test("accepted, and stdout cannot be written: 0, and stderr has the position")
    func fullOutput() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let outcome = try HostProcess.run(
            ["send", "push", "--payload", "{}"], in: folder.path, output: .file("/dev/full"))
        #expect(outcome.exit == .code(0))
        #expect(
            outcome.error == """
                hostd: cannot write to stdout: No space left on device
                hostd send: accepted 1:1: no host is ready; the next one delivers it

                """)
    }

    @Test(
        "JSON that would be too deep in a request: 64, with its place, whether a host runs or not")
    func tooDeep() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth - 1)
                + String(repeating: "]", count: depth - 1) + "}"
        }
        let pointer = "/a" + String(repeating: "/0", count: 125)
        let reason =
            "line 1, column 131 (\(pointer)): nested deeper than 126 arrays and objects\n"
        let sent = try folder.send(["push", "--payload", nested(127)])
        #expect(sent.exit == .code(64))
        #expect(sent.error == "hostd send: the payload is not JSON: " + reason)
        for words in [["call", "x.main", "a"], ["post", "t"]] {
            let outcome = try HostProcess.run(words + [nested(127)], in: folder.path)
            #expect(outcome.exit == .code(64))
            #expect(outcome.error == "hostd \(words[0]): the argument is not JSON: " + reason)
        }
        #expect(folder.names == ["slatefile.json"])

        let run = try HostdRun(nil, in: folder).ready()
        let aps = #"{"aps":{},"#
        let pushed = try folder.send(["push", "--payload", aps + nested(126).dropFirst(), "--wait"])
        #expect(pushed.exit == .code(1))
        #expect(pushed.output.hasPrefix("accepted 1:1: no module responds to 'push'"))
        #expect(try HostProcess.run(["post", "t", nested(126)], in: folder.path).exit == .code(0))
        let called = try HostProcess.run(["call", "x.main", "a", nested(126)], in: folder.path)
        #expect(called.exit == .code(69))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a message on no topic is refused, as 'hostd post' does, and nothing is written")
    func noTopic() throws {
        let folder = try TemporaryFolder()
        let sent = try folder.send(["message", "--payload", #"{"topic": ""}"#])
        #expect(sent.exit == .code(64))
        #expect(sent.error == "hostd send: event 'message' needs a topic, such as user.signed-in\n")
        #expect(try HostProcess.run(["post", ""], in: folder.path).exit == .code(64))
        #expect(folder.names == [])
    }

    @Test("a payload that cannot be read: 66; one that is too long: 64")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let missing = try folder.send(["push", "--payload", "@none.json"])
        #expect(missing.exit == .code(66))
        #expect(missing.error == "hostd send: none.json: no such file\n")
        #expect(try folder.send(["push", "--payload", "@."]).exit == .code(66))

        let badge = "{\"aps\":{},\"text\":\"\(String(repeating: "x", count: 1 << 20))\"}"
        try folder.write(badge, to: "long.json")
        let long = try folder.send(["push", "--payload", "@long.json"])
        #expect(long.exit == .code(66))
        #expect(long.error == "hostd send: long.json: is larger than 1 MiB\n")
        let piped = try folder.send(["push", "--payload", "-"], input: "long.json")
        #expect(piped.exit == .code(64))
        #expect(piped.error == "hostd send: the payload on stdin is larger than 1 MiB\n")
        // Beside the payload, the line has an event, an id and a time.
        try folder.write(
            "{\"aps\":{},\"text\":\"\(String(repeating: "x", count: (1 << 20) - 100))\"}",
            to: "long.json")
        let tight = try folder.send(["push", "--payload", "@long.json"])
        #expect(tight.exit == .code(64))
        #expect(
            tight.error.hasPrefix("hostd send: long.json is too long: with it the event has "))
        #expect(tight.error.hasSuffix(" bytes, and may have 1047552\n"))
        #expect(folder.names == ["long.json", "slatefile.json"])
    }

    @Test("a token in the URL of a payload on the command line is refused, elsewhere it is not")
    func token() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.slatefile(), to: "slatefile.json")
        for payload in [
            #"{"url":"a://b?token=secret"}"#, #"{"url":"a://b?x=1\u0026%74oken=secret"}"#,
            #"{"url":"a://b c?token=secret"}"#, #"{"url":"a://b?token=secret""#,
        ] {
            let outcome = try folder.send(["open-url", "--payload", payload])
            #expect(outcome.exit == .code(64))
            #expect(
                outcome.error
                    == "hostd send: the payload's URL has a token in it, which 'ps' shows to "
                    + "every user; give it by --payload @FILE or -\n" + Self.usage)
        }
        #expect(folder.names == ["slatefile.json"])
        try folder.write(#"{"url":"a://b?token=secret"}"#, to: "url.json")
        #expect(try folder.send(["open-url", "--payload", "@url.json"]).exit == .code(0))
        let outcome = try folder.send(["open-url", "--payload", "-"], input: "url.json")
        #expect(outcome.exit == .code(0))
        #expect(try !HostProcess.run(["inbox"], in: folder.path).output.contains("secret"))
    }

    // MARK: What a host is asked, and what is said of its answer

    @Test(
        "what it asks of a host",
        arguments: [
            (["background"], #"{"event":"background"}"#),
            (["background", "--wait"], #"{"event":"background"}"#),
            (["push", "--payload", "{ }"], #"{"event":"push","payload":{ }}"#),
            (
                ["push", "--payload", "{\n}", "--id", "a", "--wait"],
                #"{"event":"push","payload":{ },"id":"a","wait":true}"#
            ),
        ])
    func parameters(arguments: [String], sent: String) throws {
        let host = try StandIn()
        let outcome = try host.folder.send(arguments + ["--json"])
        #expect(outcome.output == sent + "\n")
        #expect(outcome.exit == .code(0))
    }

    @Test(
        "what it says of an answer",
        arguments: [
            ("{}", "delivered", Int32(0)),
            (#"{"id":"3:4","position":"3:4"}"#, "accepted 3:4", 0),
            (#"{"id":"a1","duplicate":true}"#, "already there: id a1", 0),
            (
                #"{"id":"3:4","position":"3:4","outcome":{"delivered":0,"failed":0,"unresponsive":0}}"#,
                "accepted 3:4: no module", 0
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":1,"failed":0,"unresponsive":1,"#
                    + #""fetch":"noData"}}"#,
                "accepted 3:4: 1 module, 1 unresponsive, noData", 75
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":3,"failed":2,"unresponsive":0,"#
                    + #""fetch":"newData"}}"#,
                "accepted 3:4: 3 modules, 2 failed, newData", 70
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":2,"failed":0,"unresponsive":0,"#
                    + #""claimedBy":"com.mm.x"}}"#,
                "accepted 3:4: claimed by com.mm.x", 0
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":2,"failed":0,"unresponsive":0,"#
                    + #""reply":{"n":1}}}"#,
                #"accepted 3:4: reply {"n":1}"#, 0
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":2,"failed":0,"unresponsive":0,"#
                    + #""failure":"no route"}}"#,
                "accepted 3:4: not opened: no route", 70
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":1,"failed":0,"unresponsive":0,"#
                    + #""waitsFor":["com.mm.x","com.mm.y"]}}"#,
                "accepted 3:4: 1 module, it waits for modules that do not run: com.mm.x, com.mm.y",
                75
            ),
            (
                #"{"id":"a","position":"3:4","outcome":{"delivered":1,"failed":0,"unresponsive":0,"#
                    + #""undelivered":"no module responds to 'push'"}}"#,
                "accepted 3:4: no module responds to 'push'", 1
            ),
            (
                #"{"id":"a","position":"3:4","deadLetter":"it killed the host"}"#,
                "accepted 3:4, and moved to the dead letters: it killed the host", 70
            ),
            (
                #"{"id":"a","position":"3:4","left":true}"#,
                "accepted 3:4: no host is ready; the next one delivers it", 75
            ),
        ])
    func answers(answer: String, text: String, exit: Int32) throws {
        let host = try StandIn(["send": answer])
        let arguments = ["push", "--payload", "{}", "--wait"]
        let outcome = try host.folder.send(arguments)
        #expect(outcome.output == text + "\n")
        #expect(outcome.error == "")
        #expect(outcome.exit == .code(exit))
        let json = try host.folder.send(arguments + ["--json"])
        #expect(json.output == answer + "\n")
        #expect(json.exit == .code(exit))
    }

    @Test("what a host does not accept")
    func refused() throws {
        let full = try StandIn(
            error: RPCError(
                .notAccepted, "not accepted", detail: "cannot write 'x': No space left on device"))
        let outcome = try full.folder.send(["push", "--payload", "{}"])
        #expect(outcome.exit == .code(74))
        #expect(
            outcome.error
                == "hostd send: not accepted: cannot write 'x': No space left on device\n")
        let busy = try StandIn(error: RPCError(.tooMany, "too many calls"))
        #expect(try busy.folder.send(["push", "--payload", "{}"]).exit == .code(75))
        #expect(full.folder.names == [".hostd"] && busy.folder.names == [".hostd"])
        #expect(try HostProcess.run(["inbox"], in: full.folder.path).exit == .code(66))
    }

    @Test("a host that stops takes nothing more: it is left to the next one")
    func stopping() throws {
        let host = try StandIn(error: RPCError(.notRunning, "the host has stopped"))
        let outcome = try host.folder.send(["push", "--payload", "{}"])
        #expect(
            outcome.output == "accepted 1:1: no host is ready; the next one delivers it\n")
        #expect(outcome.exit == .code(0))
        for arguments in [["push", "--payload", "{}", "--wait"], ["background"]] {
            let refused = try host.folder.send(arguments)
            #expect(refused.exit == .code(69))
            #expect(refused.error == "hostd send: the host has stopped\n")
        }
    }

    @Test("a host that ends before it answers: the outcome is not known, and what to do")
    func ended() throws {
        let process: HostProcess
        let folder: TemporaryFolder
        // Kept to the end: a call that is released is answered with an error.
        let call: ControlMethods.Call
        do {
            let host = try StandIn(answersSend: false)
            folder = host.folder
            process = try HostProcess(["send", "push", "--payload", "{}"], in: folder.path)
            call = host.send.wait()
            host.end()
        }
        let outcome = try process.waitForExit()
        withExtendedLifetime((folder, call)) {}
        #expect(outcome.exit == .code(74))
        #expect(
            outcome.error == """
                hostd send: the host on the state directory '.hostd' closed the connection before \
                it answered
                whether the event was accepted is not known; sent again with the same '--id', it is \
                delivered once

                """)
    }
}

extension TemporaryFolder {
    /// Runs `hostd send` in this folder.
    ///
    /// - Parameters:
    ///   - arguments: What follows `send`.
    ///   - input: The file that its stdin is; empty for nothing to read.
    /// - Returns: How it ended.
    /// - Throws: Where it cannot be started.
    func send(_ arguments: [String], input: String = "") throws -> HostProcess.Outcome {
        guard !input.isEmpty else {
            return try HostProcess.run(["send"] + arguments, in: path)
        }
        return try HostProcess.run(
            ["-c", #"f="$1"; shift; exec "$0" "$@" <"$f""#, HostProcess.hostd, input, "send"]
                + arguments,
            program: "/bin/sh", in: path)
    }
}
