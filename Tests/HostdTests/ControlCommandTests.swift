import ModuleHost
import TestSupport
import Testing

@Suite("hostd: commands for a host that runs", .timeLimit(.minutes(10)))
struct ControlCommandTests {
    @Test(
        "no host runs: 69, and how to start it",
        arguments: [
            ["status"], ["modules"], ["routes"], ["stop"], ["top"], ["open", "a://b"],
            ["canopen", "a://b"], ["call", "a.b", "c"], ["post", "t"],
        ])
    func notRunning(arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(
            arguments + ["--slatefile", "my app.json", "--state-dir=there"], in: folder.path)
        #expect(outcome.exit == .code(69))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd \(arguments[0]): no host runs on the state directory 'there'
                start one with 'hostd run --slatefile 'my app.json' --state-dir there'

                """ + alternative(to: arguments[0]))
    }

    private func alternative(to command: String) -> String {
        command == "routes" ? "or list the routes of the slatefile with '--offline'\n" : ""
    }

    @Test("status, for people and for programs; what a host does not say is left out")
    func status() throws {
        let json =
            #"{"app":"Demo","state":"active","stateSince":"2026-03-01T09:41:01.000Z","pid":7,"#
            + #""startedAt":"2026-03-01T09:41:00.123Z","readyMs":12.5,"modulesRunning":2,"modulesFailed":1,"unresponsive":["x.b","x.a"],"#
            + #""failed":["x.c"],"since":{"x.a":"2026-03-01T09:42:00.000Z","x.c":"2026-03-01T09:43:00.000Z"},"events":{"push":3},"#
            + #""holds":[{"module":"x.a","event":"background","reason":"upload","remainingMs":8000}]}"#
        let host = try StandIn(["status": json])
        #expect(try host.hostd("status", "--json").output == json + "\n")
        #expect(
            try host.hostd("status").output == """
                app           Demo
                state         active since 2026-03-01T09:41:01.000Z
                process       7
                started       2026-03-01T09:41:00.123Z, ready after 12.5ms
                modules       2 running, 1 failed
                unresponsive  x.b, x.a since 2026-03-01T09:42:00.000Z
                failed        x.c since 2026-03-01T09:43:00.000Z
                holds         x.a background: upload, 8s left
                events        push 3

                """)
    }

    @Test("modules as a table")
    func modules() throws {
        let host = try StandIn([
            "modules":
                #"[{"id":"com.mm.main","entry":"Modules.MainModule","state":"running","#
                + #""main":true,"required":true,"behind":0},"#
                + #"{"id":"a.b","entry":"M.B","state":"unresponsive","since":"9999-03-01T00:00:00Z","behind":3,"#
                + #""holds":[{"event":"background","reason":"upload","remainingMs":8500},"#
                + #"{"event":"terminate","reason":"sync"}]},"#
                + #"{"id":"c.d","entry":"M.C","state":"failed","reason":"threw","retryInMs":3000,"#
                + #""waiting":{"events":3,"from":"1:48"}},"#
                + #"{"id":"e.f","entry":"M.E","state":"unresponsive","behind":1,"process":{"restarts":2,"#
                + #""startedAt":"2026-01-01","endedAt":"2026-01-02","lastEnd":"it died"}},"#
                + #"{"id":"g.h","entry":"M.G","state":"failed","reason":"it died","#
                + #""process":{"restarts":4,"lastEnd":"it died"}},"#
                + #"{"id":"i.j","entry":"M.I","state":"failed","reason":"needs g.h, which failed","#
                + #""failedNeed":"g.h","process":{"restarts":0}},"#
                + #"{"id":"k.l","entry":"M.K","state":"failed","reason":"threw"},"#
                + #"{"id":"m.n","entry":"M.N","state":"disabled"}]"#
        ])
        #expect(
            try host.hostd("modules").output == """
                module       state         for  entry
                com.mm.main  running            Modules.MainModule  main, required
                a.b          unresponsive  0s   M.B                 3 behind
                    holds background: upload, 8.5s left
                    holds terminate: sync
                c.d          failed             M.C
                    threw
                    restarting in 3s
                    3 events of the inbox wait, from 1:48 on
                e.f          unresponsive       M.E                 1 behind
                    restarting, 2 restarts, last: it died
                g.h          failed             M.G
                    it died
                    'hostd restart g.h' recreates it
                i.j          failed             M.I
                    needs g.h, which failed
                    restarting with g.h
                k.l          failed             M.K
                    threw
                    'hostd restart k.l' recreates it
                m.n          disabled           M.N
                    'hostd enable m.n' runs it again

                """)
    }

    @Test("numbers of a faulty host that are too large to be counted with")
    func largeNumbers() throws {
        let hold =
            #"[{"module":"x.a","event":"background","reason":"upload","remainingMs":-1e300}]"#
        let host = try StandIn([
            "status": #"{"app":"Demo","startedAt":"2026","readyMs":1e300,"holds":\#(hold)}"#,
            "modules":
                #"[{"id":"x.a","entry":"M.A","state":"running","holds":\#(hold),"#
                + #""process":{"pid":7,"residentBytes":\#(Int.max)}},"#
                + #"{"id":"x.b","entry":"M.B","state":"failed","reason":"threw","retryInMs":\#(Int.max)}]"#,
        ])
        #expect(
            try host.hostd("status").output == """
                app           Demo
                started       2026
                holds         x.a background: upload
                events        none

                """)
        #expect(
            try host.hostd("modules").output == """
                module  state    for  entry
                x.a     running       M.A
                    process 7, 8796093022208 MiB
                    holds background: upload
                x.b     failed        M.B
                    threw
                    restarting in 106751d23h

                """)
    }

    @Test("what a call sends")
    func parameters() throws {
        let host = try StandIn()
        let rows: [([String], String)] = [
            (["open", "a://b?c"], #"{"url":"a://b?c"}"#),
            (["call", "a.b", "go"], #"{"module":"a.b","action":"go"}"#),
            (
                ["call", "a.b", "go", #"{"n": [1, 2]}"#],
                #"{"module":"a.b","action":"go","parameters":{"n": [1, 2]}}"#
            ),
            (["post", "t", "7"], #"{"topic":"t","payload":7}"#),
            (["routes", "--format", "html"], #"{"format":"html"}"#),
            (["routes", "--json"], #"{"format":"json"}"#),
        ]
        for (arguments, sent) in rows {
            let outcome = try HostProcess.run(arguments, in: host.folder.path)
            #expect(outcome.output == sent + "\n")
            #expect(outcome.exit == .code(0))
        }
        let documents = try StandIn([
            "routes": #""a\nb\n""#, "canopen": "false", "post": "null",
            "open": #"{"claimedBy":"a.b"}"#, "call": #"{"reply":"\u00fcber"}"#,
        ])
        // A reply is JSON, also where it is a string.
        #expect(try documents.hostd("call", "a.b", "c").output == #""\u00fcber""# + "\n")
        let claimed = try documents.hostd("open", "a://b")
        #expect(claimed.exit == .code(0))
        #expect(claimed.output == "")
        #expect(claimed.error == "accepted by a.b, which sends no reply\n")
        let posted = try documents.hostd("post", "t")
        #expect(posted.exit == .code(0))
        #expect(posted.output == "")
        #expect(posted.error == "")
        #expect(try documents.hostd("routes").output == "a\nb\n")
        let canOpen = try documents.hostd("canopen", "a://b")
        #expect(canOpen.output == "false\n")
        #expect(canOpen.exit == .code(69))
        let noJSON = try host.hostd("post", "t", "{")
        #expect(noJSON.exit == .code(64))
        #expect(noJSON.error.hasPrefix("hostd post: the argument is not JSON: line 1, column "))
    }

    @Test("a token comes from the environment or from a file of its owner alone")
    func tokens() throws {
        let host = try StandIn()
        let environment = ["HOSTD_TOKEN": "secret"]
        #expect(
            try host.hostd("open", "a://b", environment: environment).output
                == #"{"url":"a://b","token":"secret"}"# + "\n")
        let path = host.folder.path("token")
        try writeFile("other\n".utf8, to: path, mode: 0o600)
        #expect(
            try host.hostd(
                "open", "a://b", "--token-file", "token", environment: environment
            ).output == #"{"url":"a://b","token":"other"}"# + "\n")
        for text in [" other \r\nfor the demo\n", "other"] {
            try writeFile(text.utf8, to: path, mode: 0o600)
            #expect(
                try host.hostd("open", "a://b", "--token-file", "token").output
                    == #"{"url":"a://b","token":"other"}"# + "\n")
        }
        for text in ["", "\nother\n", "one two\n"] {
            try writeFile(text.utf8, to: path, mode: 0o600)
            let outcome = try host.hostd("open", "a://b", "--token-file", "token")
            #expect(outcome.exit == .code(66))
            #expect(outcome.error == "hostd open: token: the first line must be a token\n")
        }
        let spaced = try host.hostd(
            "open", "a://b", environment: ["HOSTD_TOKEN": "one two"])
        #expect(spaced.exit == .code(64))
        #expect(
            spaced.error
                == "hostd open: HOSTD_TOKEN is not a token, which has no space in it\n")
        #expect(
            try host.hostd("open", "a://b", environment: ["HOSTD_TOKEN": ""]).output
                == #"{"url":"a://b"}"# + "\n")
        try writeFile("other\n".utf8, to: path, mode: 0o640)
        let refused = try host.hostd("open", "a://b", "--token-file", "token")
        #expect(refused.exit == .code(77))
        #expect(
            refused.error
                == "hostd open: token: may be used by others than its owner; 'chmod 600' it\n")
        #expect(try host.hostd("open", "a://b", "--token-file", "none").exit == .code(66))
    }

    @Test(
        "a URL with a token in it is refused, since any user could read it",
        arguments: ["open", "canopen"])
    func tokenInURL(command: String) throws {
        let host = try StandIn(["canopen": "true"])
        let refused = [
            "a://b?token=secret", "a://b?x&%74oken=secret#y", "a://b?token=secret&token=",
            // No URLs at all.
            "a://b c?token=secret", "?token=secret",
        ]
        for url in refused {
            let outcome = try host.hostd(command, url)
            #expect(outcome.exit == .code(64), "\(url)")
            #expect(outcome.output == "")
            #expect(
                outcome.error == """
                    hostd \(command): the URL has a token in it, which 'ps' shows to every user; \
                    give it by --token-file or HOSTD_TOKEN
                    see 'hostd \(command) --help'

                    """)
        }
        // An empty one is none, and this is another item's value.
        for url in ["a://b?token=", "a://b?Token=x", "a://b?next=c://d?token=x", "a://b#?token=x"] {
            #expect(try host.hostd(command, url).exit == .code(0), "\(url)")
        }
    }

    @Test("a restart that failed or has to wait says what that means")
    func restart() throws {
        let failed = try StandIn([
            "restart": #"{"outcome":"failed","reason":"module 'x.a' failed in init: no"}"#
        ]).hostd("restart", "x.a")
        #expect(failed.exit == .code(70))
        // The module may have failed before: then there is no old one that stays.
        #expect(failed.error == "hostd restart: not restarted: module 'x.a' failed in init: no\n")
        let waits = try StandIn(["restart": #"{"outcome":"postponed"}"#]).hostd("restart", "x.a")
        #expect(waits.exit == .code(0))
        #expect(
            waits.output == """
                it is unresponsive: recreated if it returns; else restart the host, or disable the \
                module and reload

                """)
    }

    @Test(
        "an error of the host has its exit code",
        arguments: [
            (RPCErrorCode.notFound, Int32(69)), (.notPermitted, 77), (.overdue, 75), (.failed, 70),
            (.invalidParameters, 64), (.notRunning, 69), (.malformedURL, 64), (.badParameter, 64),
            (.unavailable, 69),
        ])
    func errors(code: RPCErrorCode, exit: Int32) throws {
        let host = try StandIn(error: RPCError(code, "no such route", detail: "'a://b'"))
        let outcome = try host.hostd("open", "a://b")
        #expect(outcome.exit == .code(exit))
        #expect(outcome.output == "")
        #expect(outcome.error == "hostd open: no such route: 'a://b'\n")
    }

    @Test(
        "stop waits for the end and returns the outcome",
        arguments: [
            (#"{"outcome":"stopped"}"#, Int32(0), "stopped\n", ""),
            (
                #"{"outcome":"failed","reason":"a module failed"}"#, 70, "",
                "hostd stop: stopped: a module failed\n"
            ),
            (
                #"{"outcome":"overdue","modules":["a.b","c.d"]}"#, 70, "",
                "hostd stop: the stop took too long; left behind: a.b, c.d\n"
            ),
        ])
    func stop(outcome: String, exit: Int32, output: String, error: String) throws {
        let process: HostProcess
        do {
            let host = try StandIn()
            process = try HostProcess(["stop"], in: host.folder.path)
            host.stop.wait().reply.succeed(raw: outcome.utf8)
            host.end()
        }
        let ended = try process.waitForExit()
        #expect(ended.exit == .code(exit))
        #expect(ended.output == output)
        #expect(ended.error == error)
    }

    @Test(
        "stop of a host that ends without a word: another has stopped it, or it was killed",
        arguments: [false, true], [[], ["--json"]])
    func stopUnanswered(isKilled: Bool, options: [String]) throws {
        let process: HostProcess
        let folder: TemporaryFolder
        // Kept to the end: a call that is released is answered with an error.
        let call: ControlMethods.Call
        do {
            let host = try StandIn(isKilled: isKilled)
            folder = host.folder
            process = try HostProcess(["stop"] + options, in: host.folder.path)
            call = host.stop.wait()
            host.end()
        }
        let ended = try process.waitForExit()
        withExtendedLifetime((folder, call)) {}
        #expect(ended.exit == .code(isKilled ? 70 : 0))
        let output = options.isEmpty ? "stopped\n" : #"{"outcome":"stopped"}"# + "\n"
        #expect(ended.output == (isKilled ? "" : output))
        #expect(
            ended.error
                == (isKilled ? "hostd stop: the host was killed before it had stopped\n" : ""))
    }

    @Test("stop of a host that is at its end already")
    func stopAtTheEnd() throws {
        let process: HostProcess
        let folder: TemporaryFolder
        // Kept to the end: a call that is released is answered with an error.
        let call: ControlMethods.Call
        do {
            let host = try StandIn(stopTime: nil)
            folder = host.folder
            process = try HostProcess(["stop"], in: host.folder.path)
            call = host.about.wait()
            host.end()
        }
        #expect(try process.waitForExit().output == "stopped\n")
        withExtendedLifetime((folder, call)) {}
    }

    @Test("stop of a host that does not end, though it should have")
    func stopInVain() throws {
        let host = try StandIn(stopTime: 1)
        let outcome = try host.hostd("stop")
        #expect(outcome.exit == .code(75))
        #expect(
            outcome.error == """
                hostd stop: process \(CurrentProcess.id) has not ended within 1ms, though it should have
                'kill -KILL \(CurrentProcess.id)' ends it at once

                """)
        // On a busy machine the time is over before the request is sent: it is not waited for here.
        withExtendedLifetime(host) {}
    }

    @Test("stop of a host that says it has ended, and does not")
    func stopWithoutEnd() throws {
        let host = try StandIn(stopTime: 1000)
        let process = try HostProcess(["stop"], in: host.folder.path)
        host.stop.wait().reply.succeed(raw: #"{"outcome":"stopped"}"#.utf8)
        let outcome = try process.waitForExit()
        #expect(outcome.exit == .code(75))
        #expect(outcome.error.contains(" has not ended within 1s, though it should have\n"))
    }

    @Test("tail shows what happens until the host ends", arguments: [false, true])
    func tail(asJSON: Bool) throws {
        let host = try StandIn()
        let process = try HostProcess(
            ["tail"] + (asJSON ? ["--json"] : []), in: host.folder.path)
        // Each look takes as long as a command does.
        while !host.tail.isFollowed { _ = try host.hostd("status") }
        let log = Log(to: host.tail, module: "com.mm.main")
        log.write(.info, "badge\nis 3", event: "push", fields: [LogField("n", 1)])
        host.end()
        let outcome = try process.waitForExit()
        #expect(outcome.exit == .code(0))
        #expect(
            outcome.output.hasSuffix(
                asJSON
                    ? #"Z","level":"info","module":"com.mm.main","event":"push","#
                        + #""message":"badge\nis 3","n":1}"# + "\n"
                    : #"Z info     com.mm.main       push  badge\nis 3 n=1"# + "\n"))
        #expect(outcome.error == "")
    }
}
