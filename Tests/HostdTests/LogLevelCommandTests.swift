import ModuleHost
import TestSupport
import Testing

@Suite("hostd log-level", .timeLimit(.minutes(10)))
struct LogLevelCommandTests {
    /// Logs a line for each memory warning, which begins with its number.
    private static let program = ShellModule.program(
        "x.sh", #""memory-warning""#,
        #"""
        *'"memory-warning"'*)
            n=$((n + 1))
            printf '{"jsonrpc":"2.0","method":"log","params":{"level":"debug","message":"%s seen"}}\n' $n ;;
        """#)

    private static func slatefile(host: String = "", journal: String = "") -> String {
        """
        {"slate": 1, "app": "test", \(host) "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.sh", "command": ["sh", "module.sh"]},
          {"id": "x.journal", "entry": "Modules.JournalModule"\(journal)}
        ]}
        """
    }

    private static func run(
        _ slatefile: String = slatefile(), _ arguments: [String] = []
    ) throws -> HostdRun {
        let folder = try TemporaryFolder()
        try folder.write(program, to: "module.sh")
        return try HostdRun(slatefile, in: folder, arguments).ready()
    }

    @Test("of a module in a process of its own, and back")
    func module() throws {
        let run = try Self.run()
        #expect(try run.hostd("log-level").output == "host  info\n")
        _ = try run.hostd("send", "memory-warning")
        #expect(
            try run.hostd("log-level", "debug", "x.sh").output
                == "host  info\nx.sh  debug  default: that of the host\n")
        _ = try run.hostd("send", "memory-warning")
        _ = try run.hostd("restart", "x.journal")
        #expect(try run.hostd("log-level", "default", "x.sh").output == "host  info\n")
        _ = try run.hostd("send", "memory-warning")
        let log = try run.terminated().error
        #expect(!log.contains("1 seen") && log.contains("2 seen") && !log.contains("3 seen"))
        // Nothing of another module that it does not write otherwise.
        #expect(
            !log.split(separator: "\n").contains { $0.contains(" debug ") && !$0.contains("x.sh") })
        #expect(log.contains("log level debug (control "))
    }

    @Test("of the host, as JSON, and errors")
    func host() throws {
        let run = try Self.run()
        #expect(try run.hostd("log-level", "debug").output == "host  debug  default: info\n")
        _ = try run.hostd("restart", "x.journal")
        try run.process.waitForLine { $0.contains("debug") && $0.contains("made") }
        #expect(
            try run.hostd("log-level", "error", "x.journal", "--json").output
                == """
                {"level":"debug","default":"info","modules":[{"module":"x.journal","level":"error"}]}

                """)
        let unknown = try run.hostd("log-level", "debug", "x.jurnal")
        #expect(unknown.exit == .code(69))
        #expect(
            unknown.error == "hostd log-level: no module 'x.jurnal'; did you mean 'x.journal'?\n")
        let loud = try run.hostd("log-level", "loud")
        #expect(loud.exit == .code(64))
        #expect(
            loud.error.hasPrefix(
                "hostd log-level: 'loud' is not a valid LEVEL: it is debug, info, notice, warning, error "
                    + "or default\n"), "\(loud.error)")
        // Each change is logged, also one to a level that suppresses notices.
        _ = try run.hostd("log-level", "error")
        _ = try run.hostd("log-level", "notice")
        let log = try run.terminated().error
        #expect(log.contains("log level error (control "))
        #expect(log.contains("log level notice (control "))
    }

    @Test("a level of the slatefile, which a reload applies, and the option before it")
    func slatefile() throws {
        let journal = #", "logLevel": "debug""#
        let run = try Self.run(Self.slatefile(host: #""logLevel": "error","#, journal: journal))
        #expect(try run.hostd("log-level").output == "host       error\nx.journal  debug\n")
        _ = try run.hostd("log-level", "debug")
        _ = try run.hostd("log-level", "warning", "x.journal")

        let quieter = Self.slatefile(host: #""logLevel": "notice","#, journal: journal)
        try run.folder.write(quieter, to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: logLevel\n")
        #expect(
            try run.hostd("log-level").output
                == "host       notice\nx.journal  warning  default: debug\n")

        try run.folder.write(
            quieter.replacing(#""debug""#, with: #""info""#), to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: adjusted x.journal\n")
        #expect(try run.hostd("log-level").output == "host       notice\nx.journal  info\n")

        let option = try Self.run(
            Self.slatefile(host: #""logLevel": "error","#), ["--log-level", "warning"])
        #expect(try option.hostd("log-level").output == "host  warning\n")
    }
}
