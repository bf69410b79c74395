import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore
@testable import Modules

@Suite("MetricsModule", .timeLimit(.minutes(10)))
struct MetricsModuleTests {
    private func slatefile(config: String = "{}", others: String = "") -> String {
        ModulesTests.slatefile(
            "com.mm.metrics", "Modules.MetricsModule", config: config, others: others)
    }

    private let firstWrite = "com.mm.metrics/first-write"

    /// The figure of a sample, by its name and labels as they stand in the file.
    private func figure(_ sample: String, in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
            .map { String($0.dropFirst(sample.utf8.count + 1)) }
    }

    @Test("the first write is when the app is ready, the last with terminate")
    func firstAndLast() async throws {
        let folder = try TemporaryFolder()
        let pushes = #"hostd_events_total{app="demo",event="push"}"#
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await app.startupTask(firstWrite)
            let first = try app.folder.text(of: "hostd.prom")
            #expect(figure(#"hostd_state{app="demo",state="active"}"#, in: first) == "1")
            #expect(figure(#"hostd_modules{app="demo",status="running"}"#, in: first) == "2")
            #expect(figure(#"hostd_ready_seconds{app="demo"}"#, in: first) == "0")
            #expect(figure(pushes, in: first) == "0")
            try await app.deliver(.push, "{}")
            #expect(try app.folder.text(of: "hostd.prom") == first)
        }
        let last = try folder.text(of: "hostd.prom")
        #expect(figure(pushes, in: last) == "1")
        #expect(figure(#"hostd_events_total{app="demo",event="terminate"}"#, in: last) == "1")
        #expect(figure(#"hostd_state{app="demo",state="terminating"}"#, in: last) == "1")
    }

    @Test("it writes after something happened, once per interval, and is idle otherwise")
    func interval() async throws {
        try await TestHost.run(slatefile: slatefile(config: #"{ "interval": "3s" }"#)) { app in
            let pushes = #"hostd_events_total{app="demo",event="push"}"#
            try await app.startupTask(firstWrite)
            for count in [1, 2] {
                try await app.deliver(.push, "{}")
                try await app.deliver(.push, "{}")
                try await app.settle()
                let before = try app.folder.text(of: "hostd.prom")
                app.time.advance(by: .seconds(3) - .nanoseconds(1))
                try await app.settle()
                #expect(try app.folder.text(of: "hostd.prom") == before)
                app.time.advance(by: .nanoseconds(1))
                try await app.settle()
                let after = try app.folder.text(of: "hostd.prom")
                #expect(figure(pushes, in: after) == "\(2 * count)")

                // A write at this time would make the file anew.
                try app.folder.move("hostd.prom", to: "moved")
                app.time.advance(by: .seconds(3600))
                try await app.settle()
                #expect(app.folder.names == ["moved"])
                try app.folder.move("moved", to: "hostd.prom")
            }
        }
    }

    @Test("the interval is 15 s unless the settings say otherwise")
    func defaultInterval() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.startupTask(firstWrite)
            let before = try app.folder.text(of: "hostd.prom")
            try await app.deliver(.memoryWarning)
            try await app.settle()
            app.time.advance(by: .seconds(15) - .nanoseconds(1))
            try await app.settle()
            #expect(try app.folder.text(of: "hostd.prom") == before)
            app.time.advance(by: .nanoseconds(1))
            try await app.settle()
            #expect(try app.folder.text(of: "hostd.prom") != before)
        }
    }

    @Test("changed settings hold from the next write on; wrong ones never")
    func reload() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.startupTask(firstWrite)
            try await app.reload("com.mm.metrics", config: #"{ "file": "other.prom" }"#)
            try await app.reload("com.mm.metrics", config: #"{ "fil": "third.prom" }"#)
            app.time.advance(by: .seconds(15))
            try await app.settle()
            let text = try app.folder.text(of: "other.prom")
            let reloads = #"hostd_events_total{app="demo",event="configuration-changed"}"#
            #expect(figure(reloads, in: text) == "2")
            #expect(
                app.messages(of: "com.mm.metrics") == [
                    "failed: line 1, column 3 (/fil): unknown key 'fil'; did you mean 'file'?"
                ])
        }
    }

    @Test("failures and ignored events are counted")
    func hostMetrics() async throws {
        let folder = try TemporaryFolder()
        let push = #", { "id": "com.mm.push", "entry": "Modules.PushModule" }"#
        let broken = """
            , { "id": "com.mm.journal", "entry": "Modules.JournalModule",
                "config": { "file": "." } }
            """
        try await TestHost.run(slatefile: slatefile(others: push + broken), .init(folder: folder)) {
            app in
            try await app.deliver(.push, #"{ "uri": 5 }"#)
            await #expect(throws: TestHostError.self) { try await app.deliver(.foreground) }
        }
        let text = try folder.text(of: "hostd.prom")
        #expect(figure(#"hostd_handler_failures_total{app="demo"}"#, in: text) == "2")
        #expect(figure(#"hostd_events_ignored_total{app="demo"}"#, in: text) == "1")
        #expect(figure(#"hostd_modules{app="demo",status="running"}"#, in: text) == "3")
        #expect(figure(#"hostd_modules{app="demo",status="failed"}"#, in: text) == "1")
    }

    // MARK: The file

    @Test("a file that cannot be written is reported once, with what to do, and tried again")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let config = #"{ "file": "later/hostd.prom" }"#
        let end = try await TestHost.run(
            slatefile: slatefile(config: config), .init(folder: folder)
        ) { app in
            func turn() async throws {
                try await app.deliver(.memoryWarning)
                try await app.settle()
                app.time.advance(by: .seconds(15))
                try await app.settle()
            }
            try await app.startupTask(firstWrite)
            try await turn()
            let report =
                "cannot write '\(folder.path)/later/hostd.prom': No such file or directory; make "
                + "its folder, or give another 'file' in this module's config"
            #expect(app.messages(of: "com.mm.metrics") == [report])
            try makeFolders(folder.path("later"))
            try await turn()
            #expect(
                app.messages(of: "com.mm.metrics") == [report, "the figures are written again"])
        }
        #expect(end == .stopped)
        #expect(try folder.text(of: "later/hostd.prom").hasPrefix("# HELP "))
    }

    @Test("a file that is a folder is an error that says what to do; nothing else is left there")
    func folder() async throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("hostd.prom"))
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await app.startupTask(firstWrite)
            #expect(
                app.messages(of: "com.mm.metrics") == [
                    "cannot write '\(folder.path)/hostd.prom': Is a directory; give a file in "
                        + "that folder as 'file' in this module's config"
                ])
        }
        #expect(folder.names == ["hostd.prom"])
    }

    @Test("a pipe in the place of the file stays, and is an error that says what to do")
    func pipe() async throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.path("hostd.prom"), 0o600) == 0)
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await app.startupTask(firstWrite)
            #expect(
                app.messages(of: "com.mm.metrics") == [
                    "cannot write '\(folder.path)/hostd.prom': it is not a regular file; remove it, "
                        + "or give another 'file' in this module's config"
                ])
        }
        let path = folder.path("hostd.prom")
        #expect(throws: FileReadError(path: path, reason: .notRegular)) {
            try readFile(at: path, limit: 10_000)
        }
    }

    @Test("the collector, another user, can read it; nothing else is left beside it")
    func permissions() async throws {
        let folder = try TemporaryFolder()
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { _ in }
        #expect(try folder.mode(of: "hostd.prom") == 0o644)
        #expect(folder.names == ["hostd.prom"])
    }

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (#"{ "file": "" }"#, "/file: a file's path cannot be empty or hold a NUL"),
            (
                #"{ "interval": 15 }"#,
                #"/interval: expected a duration such as "2s", found the number 15"#
            ),
            (
                #"{ "intervall": "1s" }"#,
                "/intervall: unknown key 'intervall'; did you mean 'interval'?"
            ),
        ])
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }

    @Test("no time at all is no interval")
    func noInterval() {
        let found = ModulesTests.diagnostics(of: slatefile(config: #"{ "interval": "0s" }"#))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("/modules/1/config/interval: ") == true)
    }
}

@Suite("Prometheus text")
struct PrometheusTextTests {
    @Test("HELP and TYPE come once, before all samples of the family")
    func family() {
        var text = PrometheusText(app: "demo")
        text.family(
            "a_total", .counter, "All of a.",
            [
                PrometheusText.Sample(label: ("of", "x"), value: 3),
                PrometheusText.Sample(label: ("of", "y"), value: 0),
            ])
        text.family("b_seconds", .gauge, "How long b took.", [.init(value: 0.25)])
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == """
                # HELP a_total All of a.
                # TYPE a_total counter
                a_total{app="demo",of="x"} 3
                a_total{app="demo",of="y"} 0
                # HELP b_seconds How long b took.
                # TYPE b_seconds gauge
                b_seconds{app="demo"} 0.25

                """)
    }

    @Test("a family without samples is not there")
    func noSamples() {
        var text = PrometheusText(app: "demo")
        text.family("a", .gauge, "All of a.", [])
        #expect(text.bytes.isEmpty)
    }

    @Test(
        "labels are escaped",
        arguments: [
            (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("a\r\nb", "a\r\\nb"),
            (#"\n"#, #"\\n"#), ("ü", "ü"),
        ])
    func labels(value: String, escaped: String) {
        var text = PrometheusText(app: value)
        text.family("a", .gauge, "A.", [.init(label: ("b", value), value: 1)])
        let sample = "a{app=\"\(escaped)\",b=\"\(escaped)\"} 1\n"
        #expect(String(decoding: text.bytes, as: UTF8.self).hasSuffix(sample))
    }

    @Test("the whole file has the form of a textfile")
    func wholeFile() throws {
        let text = String(
            decoding: PrometheusText(events: [.push: 2], metrics: HostMetrics(), app: "demo").bytes,
            as: UTF8.self)
        #expect(text.hasSuffix("\n") && !text.contains("\n\n"))
        var described: [Substring] = []
        for line in text.split(separator: "\n") {
            if let help = line.wholeMatch(of: /# HELP ([a-z_]+) [^\\]+/) {
                #expect(!described.contains(help.1))
                described.append(help.1)
            } else if let type = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge)/) {
                #expect(type.1 == described.last)
                #expect((type.2 == "counter") == type.1.hasSuffix("_total"))
            } else {
                let sample = try #require(
                    line.wholeMatch(of: /([a-z_]+)\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")?\} [0-9.e-]+/))
                #expect(sample.1 == described.last)
            }
        }
        // There is no READY yet to report.
        #expect(described.count == 6 && !text.contains("hostd_ready_seconds"))
    }
}
