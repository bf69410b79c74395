import Glibc
import TestSupport
import Testing

@testable import ModuleHost

/// Every command of `hostd`, with slatefiles, hosts, modules, files and arguments that are hostile: what it prints has
/// nothing in it that a terminal obeys, and no line that it did not write itself.
///
/// Seeded: `OUTPUT_SEEDS=200` tries as many as that, `OUTPUT_SEED=7` that one alone.
@Suite("Hostile output", .timeLimit(.minutes(60)))
struct HostileOutputTests {
    static let seeds: [UInt64] = {
        let environment = CurrentProcess.environment()
        if let seed = environment["OUTPUT_SEED"].flatMap(UInt64.init) { return [seed] }
        return Array(1...(environment["OUTPUT_SEEDS"].flatMap(UInt64.init) ?? 3))
    }()

    /// How each command is called, with words for its arguments that may be hostile.
    private static func calls(
        of command: Command, _ hostile: inout HostileText
    ) -> [[String]] {
        let operands = command.operands.map { operand in
            operand.choices.randomElement(using: &hostile.random) ?? hostile.text()
        }
        var calls = [[command.name] + operands]
        if command.options.contains(where: { $0.name == "json" }) {
            calls.append(calls[0] + ["--json"])
        }
        return calls
    }

    private func check(
        _ outcome: HostProcess.Outcome, _ words: [String], seed: UInt64,
        location: SourceLocation = #_sourceLocation
    ) {
        let isJSON = words.contains("--json")
        for (name, text) in [("stdout", outcome.output), ("stderr", outcome.error)] {
            let problem = HostileText.problem(in: text, isJSON: isJSON && name == "stdout")
            #expect(
                problem == nil,
                "seed \(seed), \(words): \(name): \(problem ?? ""): \(text.debugDescription)",
                sourceLocation: location)
        }
        if isJSON, !outcome.output.isEmpty {
            for line in outcome.output.split(separator: "\n") {
                #expect(
                    throws: Never.self, "seed \(seed), \(words): \(line.debugDescription)",
                    sourceLocation: location
                ) { try JSONValue(parsing: String(line)) }
            }
        }
        if case .signal = outcome.exit {
            Issue.record("seed \(seed), \(words): \(outcome.exit)", sourceLocation: location)
        }
    }

    // MARK: Hosts

    /// What hosts answer.
    private static let answers = [
        "status": #"""
        {"app":"a","state":"active","stateSince":"2026","pid":7,"version":"0.1.0","slatefile":"s","stateDirectory":"d",
         "startedAt":"2026-03-01T09:41:00.123Z","readyMs":12.5,"modulesRunning":2,"modulesFailed":1,
         "unresponsive":["x.b"],"failed":["x.d"],"since":{"x.b":"2026","x.d":"2026"},"isolated":["x.c"],"events":{"push":3},"inbox":{"position":"1:1",
         "pendingBytes":3,"accepted":1,"done":1,"deadLetters":2,"duplicates":0,"problem":"disk"},
         "lastDeath":{"text":"it died","cause":"process"},"failures":1,"timesUnresponsive":2,"ignored":3,
         "holds":[{"module":"x.a","event":"background","reason":"upload","remainingMs":8000}],
         "lastReload":{"outcome":"rolled-back","time":"2026","origin":"x","summary":"module 'x.b' failed"}}
        """#,
        "modules": #"""
        [{"id":"x.a","entry":"M.A","state":"running","main":true,"required":true,"behind":2},
         {"id":"x.b","entry":"M.B","state":"failed","since":"2026","reason":"threw","hostDeaths":2},
         {"id":"x.c","entry":"c","state":"unresponsive","behind":1,"process":{"pid":3,"restarts":2,
          "startedAt":"2026","endedAt":"2026","lastEnd":"it died","residentBytes":9000000},
          "holds":[{"event":"background","reason":"upload"}]},
         {"id":"x.d","entry":"d","state":"failed","reason":"r","process":{"restarts":4}}]
        """#,
        "health":
            #"{"ready":true,"healthy":true,"state":"active","modules":3,"unresponsive":["x.b"],"failed":["x.c"]}"#,
        "why": #"""
        {"running":true,"summary":"a","findings":[{"module":"x.b","state":"failed","since":"2026","forMs":7,
         "reason":"r","neededBy":["x.c"],"events":2,"calls":1,"next":"n","command":"hostd restart x.b"}],
         "record":[{"time":"2026","module":"x.b","what":"failed","text":"failed: r"}]}
        """#,
        "wait": #"{"outcome":"waiting","missing":["the app is not ready"],"reason":"r"}"#,
        "startup": #"""
        {"readyMs":1700,"chain":[{"kind":"task","name":"x.b/t","startedMs":2,"ms":3,"awaited":true}],"omitted":4,
         "steps":[{"kind":"task","name":"x.b/t","startedMs":2,"ms":3,"waitedMs":1,"awaited":true,"problem":"failed"}]}
        """#,
        "config":
            #"{"app":"a","config":{"k":"${V}","m":[1,{"n":null}]},"modules":[{"id":"x.b","main":true},{}]}"#,
        "timeline": #"""
        {"running":true,"knownSince":"2026","time":"2026","from":"2026","cut":true,
         "entries":[{"atMs":0,"time":"2026","what":"started","text":"host 1 started","pid":7},
         {"atMs":1,"time":"2026","module":"x.b","what":"failed","text":"failed: r"},
         {"atMs":2,"time":"2026","what":"start-up-task","text":"t","task":"x.b/t","outcome":"failed","ms":1},
         {"atMs":3,"time":"2026","what":"delivered","text":"d","event":"message","topic":"t","ms":1,"failed":1}]}
        """#,
        "metrics": #"""
        [{"name":"a","type":"gauge","help":"h","samples":[{"labels":{"app":"a"},"value":1}]},
         {"name":"hostd_build_info","samples":[{"labels":{"app":"a"},"value":1}]},
         {"name":"hostd_module_state","samples":[{"labels":{"module":"x.b","state":"failed"},"value":1}]}]
        """#,
        "open": #"{"reply":{"a":"b","c":["d",1]}}"#,
        "canopen": "true",
        "call": #"{"reply":"text"}"#,
        "post": "null",
        "send": #"""
        {"id":"a","position":"1:1","duplicate":false,"deadLetter":"why","left":true,"outcome":
         {"delivered":2,"failed":1,"unresponsive":1,"fetch":"newData","claimedBy":"x.b","reply":{"a":"b"},"failure":"no"}}
        """#,
        "reload":
            #"{"outcome":"rolled-back","summary":"why","exitCode":70,"text":"s.json:1:1: error: x\n1 error\n"}"#,
        "apply": #"{"outcome":"superseded","summary":"why","exitCode":75}"#,
        "restart": #"{"outcome":"failed","reason":"why"}"#,
        "unload": #"{"outcome":"refused","reason":"why"}"#,
        "disable":
            #"{"outcome":"disabled","modules":["x.b"],"exitCode":0,"reload":{"summary":"removed"}}"#,
        "enable": #"{"outcome":"refused","modules":[],"reason":"why","exitCode":78}"#,
        "log.level":
            #"{"level":"debug","default":"info","modules":[{"module":"x.b","level":"error"}]}"#,
    ]

    /// The commands that ask a host and receive its answer at once; `stop` and `tail` have tests of their own.
    private static func askingCalls(_ hostile: inout HostileText) -> [[String]] {
        let word = hostile.text()
        let plain = [
            ["status"], ["why"], ["why", "x.b"], ["modules"], ["health"],
            ["wait"], ["wait", "--for", "x.b", "--ready"],
            ["startup"], ["startup", "blame"], ["startup", "plot"],
            ["startup", "plot", "--format", "svg"], ["timeline"], ["config"],
            ["reload", "--dry-run"],
            ["timeline", "--format", "svg"], ["timeline", "--format", "trace"],
            ["metrics"], ["routes"], ["open", "a://b"],
            ["canopen", "a://b"],
            ["call", "x.a", "y"], ["post", "t"], ["send", "push", "--payload", "{}"],
            ["send", "push", "--payload", "{}", "--wait"], ["send", "background"], ["reload"],
            ["apply", "-"], ["restart", "x.a"], ["unload", "x.a"], ["log-level"],
            ["log-level", "debug", "x.b"],
            ["disable", "x.b"], ["disable", "x.b", "--with-dependents"], ["enable", "x.b"],
            ["modules", "--reset-crashes", word],
        ]
        let formats = ["markdown", "html"].map { ["routes", "--format", $0] }
        let named = [
            ["open", word], ["call", word, word], ["post", word], ["restart", word],
            ["unload", word], ["log-level", "info", word], ["disable", word], ["enable", word],
            ["why", word], ["wait", "--for", word],
        ]
        let once = [["top", "--interval", "1ms"]]
        return plain.flatMap { words in
            // These two print what they are given, or nothing.
            ["canopen", "open", "call", "post"].contains(words[0])
                ? [words] : [words, words + ["--json"]]
        } + formats + named + once
    }

    @Test("answers of a host, whatever is in them", arguments: seeds)
    func hostAnswers(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        var answers = try Self.answers.sorted { $0.key < $1.key }.map { method, template in
            (method, try hostile.json(like: template))
        }
        // Lines that the host made, who begins them itself; here it has escaped nothing else.
        let lines = HostileText.quoted("x" + hostile.text().replacing("\n", with: "\nx"))
        answers.append(("routes", lines))
        if hostile.isLikely(2) { answers.append(("metrics", lines)) }
        if hostile.isLikely(5) {
            answers.append(("reload", #"{"outcome":"invalid","exitCode":78,"text":\#(lines)}"#))
        }
        let host = try StandIn(Dictionary(answers) { $1 })
        for words in Self.askingCalls(&hostile) {
            check(try HostProcess.run(words, in: host.folder.path), words, seed: seed)
        }
    }

    @Test("errors of a host, whatever they say", arguments: seeds)
    func hostErrors(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        let code =
            [-32700, -32602, -32001, -32003, -32005, -32009, 7].randomElement(
                using: &hostile.random) ?? 0
        let detail: String? = hostile.isLikely(7) ? hostile.text() : nil
        let host = try StandIn(
            error: RPCError(RPCErrorCode(rawValue: code), hostile.text(), detail: detail))
        for words in Self.askingCalls(&hostile) {
            check(try HostProcess.run(words, in: host.folder.path), words, seed: seed)
        }
    }

    @Test("the end of a host, whatever it says of it", arguments: seeds, [[], ["--json"]])
    func stop(seed: UInt64, options: [String]) throws {
        var hostile = HostileText(seed: seed)
        let templates = [
            #"{"outcome":"failed","reason":"why"}"#,
            #"{"outcome":"overdue","modules":["x.a","x.b"]}"#,
        ]
        let template = try #require(templates.randomElement(using: &hostile.random))
        let process: HostProcess
        do {
            let host = try StandIn()
            process = try HostProcess(["stop"] + options, in: host.folder.path)
            host.stop.wait().reply.succeed(raw: try hostile.json(like: template).utf8)
            host.end()
        }
        check(try process.waitForExit(), ["stop"] + options, seed: seed)
    }

    @Test("what is followed, whatever is in it", arguments: seeds, [[], ["--json"]])
    func tail(seed: UInt64, options: [String]) throws {
        var hostile = HostileText(seed: seed)
        let host = try StandIn()
        let process = try HostProcess(["tail"] + options, in: host.folder.path)
        while !host.tail.isFollowed { _ = try host.hostd("status") }
        for _ in 0..<10 {
            // No two keys are the same.
            let fields = (0..<4).map { LogField("\($0)" + hostile.text(), hostile.text()) }
            host.tail.write(
                LogRecord(
                    time: .now(), level: .info, module: hostile.text(), event: hostile.text(),
                    message: hostile.text(), fields: fields))
        }
        host.end()
        let outcome = try process.waitForExit()
        #expect(outcome.output.split(separator: "\n").count == 10)
        check(outcome, ["tail"] + options, seed: seed)
    }

    // MARK: Without a host

    @Test("arguments that make no sense, of every command", arguments: seeds)
    func usage(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        let folder = try TemporaryFolder()
        var lines: [[String]] = [
            [hostile.text()], ["-" + hostile.text()], ["help", hostile.text()],
        ]
        for command in Command.builtIn {
            let name = command.name
            lines += [
                [name, "--" + hostile.text()], [name, "--json=" + hostile.text()],
                [name] + (0..<5).map { _ in hostile.text() },
            ]
            for option in command.options where option.placeholder != nil {
                lines.append([
                    name, "--\(option.name)", "x" + hostile.text(), "--" + hostile.text(),
                ])
                if !option.choices.isEmpty {
                    lines.append([name, "--\(option.name)", "x" + hostile.text()])
                }
            }
        }
        for words in lines {
            let outcome = try HostProcess.run(words, in: folder.path)
            #expect(outcome.exit == .code(64), "\(words)")
            check(outcome, words, seed: seed)
        }
    }

    @Test("paths and names that there are none of, of every command", arguments: seeds)
    func nowhere(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        let folder = try TemporaryFolder()
        for command in Command.builtIn {
            // Not in the middle of a path, where a slash could be.
            let path = "x" + hostile.text()
            for var words in Self.calls(of: command, &hostile) {
                for option in command.options
                where ["slatefile", "state-dir"].contains(option.name) {
                    words += ["--\(option.name)", path]
                }
                if command.name == "new" { words += ["--language", "python"] }
                if command.name == "wait" { words += ["--timeout", "1ms"] }
                let process = try HostProcess(
                    words, in: folder.path, environment: ["HOSTD_TOKEN": hostile.text()])
                guard command.name != "tail" else {
                    let line = try process.waitForLine(containing: "waiting for one")
                    #expect(HostileText.problem(in: line, isJSON: false) == nil)
                    continue
                }
                check(try process.waitForExit(), words, seed: seed)
            }
        }
    }

    /// The commands that read a slatefile, and ask no host.
    private static let fileCalls = [
        ["check"], ["check", "--json"], ["signals"], ["signals", "--json"],
        ["routes", "--offline"], ["routes", "--offline", "--json"],
        ["routes", "--offline", "--format", "markdown"],
        ["routes", "--offline", "--format", "html"], ["graph"], ["graph", "--json"],
        ["graph", "--format", "dot"], ["graph", "--format", "svg"],
        ["compose", "--dry-run"], ["compose", "--dry-run", "--only", "com.mm.push"],
        ["new", "module", "x.y", "--language", "python"],
        ["new", "module", "x.z", "--language", "python", "--add", "--json"],
    ]

    @Test("slatefiles, whatever is in them", arguments: seeds)
    func slatefiles(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        let template = try HostdRun.shippedSlatefile()
        for _ in 0..<6 {
            let folder = try TemporaryFolder()
            var text = try hostile.json(like: template, chance: 1)
            // Now and then not even JSON.
            if hostile.isLikely(3) {
                let place = text.indices.randomElement(using: &hostile.random) ?? text.startIndex
                text.insert(contentsOf: hostile.text(), at: place)
            }
            try folder.write(text, to: "slatefile.json")
            for words in Self.fileCalls {
                check(try HostProcess.run(words, in: folder.path), words, seed: seed)
            }
            // One that is well-formed runs.
            try folder.write("{\"slate\": 2, \(text.dropFirst())", to: "slatefile.json")
            for words in [["run"], ["run", "--log-format", "json"]] {
                check(try HostProcess.run(words, in: folder.path), words, seed: seed)
            }
        }
    }

    @Test("an inbox, whatever is in it", arguments: seeds)
    func inbox(seed: UInt64) throws {
        var hostile = HostileText(seed: seed)
        let folder = try TemporaryFolder()
        let files = InboxFolder(in: StateDirectory(path: folder.path(".hostd")))
        try files.make()
        let lines = try (0..<6).map { _ in
            let line = try hostile.json(
                like:
                    #"{"event":"push","id":"a","payload":{"aps":{}},"time":"2026","modules":["x.a"]}"#,
                chance: 3)
            return Array(
                (hostile.isLikely(2) ? hostile.text().replacing("\n", with: " ") : line).utf8)
        }
        _ = try InboxWriter(files).append(lines)
        let rejected = lines.enumerated().map { index, line in
            DeadLetter(
                time: WallTime(seconds: 1_772_358_060), reason: hostile.text(),
                position: EventPosition(segment: 1, offset: UInt32(index)), id: hostile.text(),
                modules: nil, line: line)
        }
        try DeadLetters(files).append(rejected)
        let name = hostile.text()
        for words in [
            ["inbox"], ["inbox", "--json"], ["inbox", "retry", name, "x"],
            ["inbox", "drop", name, "x"],
            ["inbox", "retry", "1:0", "1:1"], ["inbox", "retry", "1:2", "--json"],
            ["inbox", "drop", "1:3"], ["inbox", "drop", "1:4", "--json"],
            ["inbox", "drop", "--all"],
            ["inbox", "path"], ["inbox", "path", "--json"],
        ] {
            check(try HostProcess.run(words, in: folder.path), words, seed: seed)
        }
    }

    // MARK: What all that is worth

    @Test("there is no command that is not tried")
    func everyCommand() {
        var hostile = HostileText(seed: 1)
        let tried = Self.askingCalls(&hostile).map { $0[0] } + Self.fileCalls.map { $0[0] }
        // These have tests of their own; those two print nothing that is not in the program.
        let others = ["inbox", "run", "stop", "tail", "help", "schema"]
        #expect(Set(tried + others) == Set(Command.builtIn.map(\.name)))
    }

    @Test(
        "what it looks for is found",
        arguments: [
            ("a\u{1B}[2J", "U+1b is printed"), ("\u{9B}1m", "U+9b is printed"),
            ("a\rb", "U+d is printed"), ("\u{202E}", "U+202e is printed"),
            ("a\n\(HostileText.forged)", "a line is forged"), ("a\n\tb 👨\u{200D}👩", nil),
        ])
    func finds(text: String, problem: String?) {
        #expect(HostileText.problem(in: text) == problem)
    }
}
