import Glibc
import ModuleHost
import TestSupport
import Testing

/// Calls of a real host, as a person at a terminal makes them.
@Suite("hostd: open, canopen, call and post", .timeLimit(.minutes(10)))
struct CallRunTests {
    private let run: HostdRun

    init() throws { run = try HostdRun(HostdRun.shippedSlatefile()).ready() }

    private func expect(
        _ arguments: [String], prints output: String = "", says error: String = "",
        exits code: Int32 = 0, at location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try HostProcess.run(arguments, in: run.folder.path)
        #expect(outcome.output == output, sourceLocation: location)
        #expect(outcome.error == error, sourceLocation: location)
        #expect(outcome.exit == .code(code), sourceLocation: location)
    }

    private static let userInfo =
        #"{"posts":0,"style":1,"color":"green","#
        + #""url":"https://www.example.com/userInfo?color=green&style=1"}"# + "\n"

    @Test("open prints the reply")
    func open() throws {
        try expect(
            ["open", "slate://com.mm.community/userInfo?style=1&color=green"],
            prints: Self.userInfo)
        // A URL that no other module answers is shown by the browser.
        try expect(
            ["open", "https://example.com/x"], prints: #"{"shown":"https://example.com/x"}"# + "\n")
        try expect(
            ["open", "slate://com.mm.community/userInfo?style=blue"],
            says: "hostd open: parameter 'style': expected a whole number, found 'blue'\n",
            exits: 64)
        try expect(
            ["open", "slate://a/%zz"],
            says:
                "hostd open: malformed URL: byte 10 is a '%' without two hexadecimal digits; for the "
                + "sign itself write %25\n",
            exits: 64)
    }

    @Test("call prints the reply of an action")
    func call() throws {
        try expect(
            ["call", "com.mm.community", "userInfo", #"{"style": 1, "color": "green"}"#],
            prints: Self.userInfo)
        try expect(["call", "com.mm.community", "userInfo"], prints: Self.userInfo)
        try expect(
            ["call", "com.mm.community", "usrInfo"],
            says:
                "hostd call: no action 'usrInfo' of 'com.mm.community'; did you mean 'userInfo'?\n",
            exits: 69)
        try expect(
            ["call", "com.mm.community", "userInfo", "[1]"],
            says:
                "hostd call: the parameters are an array: give an object, such as '{\"name\": \"mia\"}'\n",
            exits: 64)
    }

    @Test("what only modules of the app may reach answers like what does not exist")
    func unreachable() throws {
        for action in ["signIn", "sgnIn"] {
            try expect(
                ["call", "com.mm.community", action, #"{"name": "mia"}"#],
                says: "hostd call: no action '\(action)' of 'com.mm.community'\n", exits: 69)
            let url = "slate://com.mm.community/\(action)?name=mia"
            try expect(["open", url], prints: #"{"shown":"\#(url)"}"# + "\n")
        }
    }

    @Test("canopen prints the answer, and ends accordingly")
    func canOpen() throws {
        try expect(["canopen", "slate://com.mm.community/userInfo"], prints: "true\n")
        try expect(
            ["canopen", "slate://com.mm.community/userInfo?style=blue"], prints: "false\n",
            exits: 69)
        try expect(
            ["canopen", "nothing"],
            says: "hostd canopen: malformed URL: it begins with no scheme, such as the slate of "
                + "slate://userInfo\n",
            exits: 64)
    }

    @Test("a URL without a scheme: the example has the app's")
    func noScheme() throws {
        let run = try HostdRun(HostdRun.slatefile(top: #""schemes": ["depot"]"#)).ready()
        for command in ["open", "canopen"] {
            let outcome = try HostProcess.run([command, "rate/a"], in: run.folder.path)
            #expect(outcome.exit == .code(64))
            #expect(
                outcome.error == """
                    hostd \(command): malformed URL: it begins with no scheme, such as the depot of \
                    depot://userInfo

                    """)
        }
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("post reaches modules, with its sender")
    func post() throws {
        try expect(["post", "user.signed-in", #"{"name": "mia"}"#])
        try expect(
            ["post", "", "{}"],
            says: """
                hostd post: an argument is empty
                usage: hostd post [--slatefile FILE] [--state-dir DIR] [--traceparent TEXT]
                       TOPIC [JSON]
                see 'hostd post --help'

                """, exits: 64)
        #expect(try run.terminated().exit == .code(0))
        let message = try #require(
            try run.journal().first { $0["event"]?.string == "message" })
        #expect(message["payload"]?["topic"]?.string == "user.signed-in")
        #expect(message["payload"]?["payload"]?["name"]?.string == "mia")
        #expect(message["origin"]?["kind"]?.string == "control")
        #expect(message["origin"]?["uid"]?.int == Int(geteuid()))
    }

    @Test("routes shows those of the host, in each format")
    func routes() throws {
        for (format, text) in [
            ("text", "userInfo"), ("markdown", "# URIs of demo"), ("html", "<!doctype html>"),
            ("json", #"{"app":"demo""#),
        ] {
            let outcome = try run.hostd("routes", "--format", format)
            #expect(outcome.exit == .code(0))
            #expect(outcome.output.contains(text), "\(outcome.output.prefix(200))")
        }
    }

    @Test("a token is nowhere to be seen: not in log, journal, tail, status or error")
    func tokens() throws {
        let run = try HostdRun(HostdRun.shippedSlatefile(), ["--log-level", "debug"]).ready()
        let tail = try run.tail("--json")
        let secret = "sesame-4711"
        var said: [String] = []
        for url in [
            "slate://com.mm.community/post?text=x&token=\(secret)",
            "slate://com.mm.community/post?text=x",
            "https://\(secret):x@a/?token=\(secret)", "slate://a?token=\(secret)&token=\(secret)",
        ] {
            for command in ["open", "canopen"] {
                let outcome = try HostProcess.run(
                    [command, url], in: run.folder.path, environment: ["HOSTD_TOKEN": secret])
                said += [outcome.output, outcome.error, try run.answer(to: command, url)]
            }
        }
        let call = try HostProcess.run(
            ["call", "com.mm.community", "post", #"{"text": "x"}"#], in: run.folder.path,
            environment: ["HOSTD_TOKEN": secret])
        said += [call.output, call.error, try run.hostd("status", "--json").output]
        #expect(try run.hostd("stop").exit == .code(0))
        let outcome = try tail.waitForExit()
        said += [outcome.output, outcome.error, try run.ended().error]
        said.append(try run.folder.text(of: ".hostd/journal.ndjson"))
        for text in said { #expect(!text.contains(secret), "\(text)") }
        #expect(outcome.output.contains(#""event":"open-url""#))
    }

    @Test("a token opens what is authorized, however it is given, and no more; it is not seen")
    func authorized() throws {
        let secret = "sesame-0123456789"
        let folder = try TemporaryFolder()
        let tokens =
            #"[{"token": "\#(secret)", "name": "test", "scopes": ["slate://com.mm.community/*"]}]"#
        try writeFile(tokens.utf8, to: folder.path("tokens.json"), mode: 0o600)
        try writeFile("\(secret)\n".utf8, to: folder.path("token"), mode: 0o600)
        let slatefile = try HostdRun.shippedSlatefile().replacing(
            #""slate": 1,"#, with: #""slate": 1, "security": {"tokens": "tokens.json"},"#)
        let run = try HostdRun(slatefile, in: folder).ready()
        let url = "slate://com.mm.community/post?text=x"
        let failed = try HostProcess.run(
            ["open", url], in: folder.path, environment: ["HOSTD_TOKEN": secret])
        #expect(failed.exit == .code(70))
        #expect(
            failed.error
                == "hostd open: com.mm.community failed: cannot post: no user is signed in\n")
        #expect(try run.hostd("post", "user.signed-in", #"{"name": "mia"}"#).exit == .code(0))
        let shown = #"{"shown":"\#(url)"}"# + "\n"
        let rows: [(arguments: [String], token: String?, output: String)] = [
            (["open", url], nil, shown),
            (["open", url], "another-0123456789", shown),
            (["open", url], secret, "null\n"),
            (["open", url, "--token-file", "token"], nil, "null\n"),
            (["call", "com.mm.community", "post", #"{"text": "x"}"#], secret, "null\n"),
            (["canopen", "slate://com.mm.community/signOut"], secret, "true\n"),
            (["call", "com.mm.community", "signOut"], secret, ""),
        ]
        for row in rows {
            let environment = row.token.map { ["HOSTD_TOKEN": $0] } ?? [:]
            let outcome = try HostProcess.run(
                row.arguments, in: folder.path, environment: environment)
            #expect(outcome.output == row.output, "\(row.arguments)")
            #expect(!outcome.error.contains(secret))
        }
        #expect(try run.answer(to: "open", url + "&token=\(secret)") == #"{"reply":null}"#)
        #expect(try !run.terminated().error.contains(secret))
        #expect(try !folder.text(of: ".hostd/journal.ndjson").contains(secret))
    }

    @Test("a call that comes while the app launches is answered when it has")
    func launching() throws {
        let (run, pipe) = try FullPipe.run(#"{"launch": "1h"}"#, isFull: true)
        try run.process.waitForLine(containing: " runs 'test' of ")
        let call = try HostProcess(["canopen", "slate://x.main/"], in: run.folder.path)
        // Once it is asked something else, it may have been asked that.
        _ = try run.hostd("status")
        pipe.empty()
        #expect(try call.waitForExit().output == "false\n")
    }

    @Test("the example of docs/control.md prints what the page says", .enabled(if: hasPython))
    func example() throws {
        let page = try Repository.text(of: "docs/control.md")
        func block(_ language: String) throws -> String {
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex(of: "```\(language)"))
            return lines[(start + 1)...].prefix { $0 != "```" }.map { $0 + "\n" }.joined()
        }
        let outcome = try HostProcess.run(
            ["python3", "-c", try block("python")], program: "/usr/bin/env", in: run.folder.path)
        #expect(outcome.error == "")
        #expect(outcome.output == (try block("text")))
    }

    private static let hasPython =
        (try? HostProcess.run(["python3", "--version"], program: "/usr/bin/env"))?.exit == .code(0)
}

extension HostdRun {
    /// What the host answers to a method that takes a URL, where no command line shows that.
    fileprivate func answer(to method: String, _ url: String) throws -> String {
        let client = try HostClient(to: StateDirectory(path: folder.path(".hostd")))
        do throws(HostClientError) {
            return try client.call(method) { $0.object { $0.member("url", url) } }.text
        } catch {
            guard case .refused = error else { throw error }
            return "\(error)"
        }
    }
}

extension String {
    /// The text with the first `part` replaced.
    fileprivate func replacing(_ part: String, with other: String) -> String {
        guard let start = utf8.indices.first(where: { utf8[$0...].starts(with: part.utf8) }) else {
            return self
        }
        let end = utf8.index(start, offsetBy: part.utf8.count)
        return self[..<start] + other + self[end...]
    }
}
