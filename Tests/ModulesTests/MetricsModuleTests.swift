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

    /// The text of the file when the write that is in progress, if one is, has ended.
    private func text(_ app: TestHost, _ name: String = "hostd.prom") async throws -> String {
        try await written(app)
        return try app.folder.text(of: name)
    }

    private func written(_ app: TestHost) async throws {
        try await app.startupTask(firstWrite)
        try await app.settle()
        let written = Promise<Void>()
        try await app.module(MetricsModule.self) { module in
            guard module.isWriting else { return written.keep(()) }
            module.onWrite = { written.keep(()) }
        }
        await written.value
    }

    @Test("the first write is when the app is ready; with terminate the file is removed")
    func firstAndLast() async throws {
        let folder = try TemporaryFolder()
        let pushes = #"hostd_events_total{app="demo",event="push"}"#
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            let first = try await text(app)
            #expect(figure(#"hostd_state{app="demo",state="active"}"#, in: first) == "1")
            #expect(figure(#"hostd_modules{app="demo",status="running"}"#, in: first) == "2")
            #expect(figure(#"hostd_ready_seconds{app="demo"}"#, in: first) == "0")
            #expect(figure(pushes, in: first) == "0")
            try await app.deliver(.push, "{}")
            #expect(try await text(app) == first)
        }
        #expect(folder.names == [])
    }

    @Test("a module that hangs is unresponsive, and not running; it has one state at a time")
    func unresponsive() async throws {
        let push = #", { "id": "com.mm.push", "entry": "Modules.PushModule" }"#
        try await TestHost.run(slatefile: slatefile(others: push)) { app in
            let well = try await text(app)
            let state = #"hostd_module_state{app="demo",module="com.mm.push""#
            #expect(figure(state + #",state="running"}"#, in: well) == "1")
            let stall = try await app.stall("com.mm.push")
            try await app.deliver(.memoryWarning)
            app.time.advance(by: .seconds(15))
            let hung = try await text(app)
            #expect(figure(state + #",state="unresponsive"}"#, in: hung) == "1")
            #expect(hung.split(separator: "\n").count { $0.hasPrefix(state) } == 1)
            #expect(figure(#"hostd_modules{app="demo",status="running"}"#, in: hung) == "2")
            #expect(figure(#"hostd_modules{app="demo",status="unresponsive"}"#, in: hung) == "1")
            #expect(figure(#"hostd_modules_unresponsive_total{app="demo"}"#, in: hung) == "1")
            try await stall.end()
        }
    }

    @Test("with a heartbeat it is written without events, and says how often")
    func heartbeat() async throws {
        let config = #"{ "interval": "3s", "heartbeat": "60s" }"#
        try await TestHost.run(slatefile: slatefile(config: config)) { app in
            var text = try await text(app)
            #expect(figure(#"hostd_metrics_heartbeat_seconds{app="demo"}"#, in: text) == "60")
            for _ in 0..<2 {
                app.time.advance(by: .seconds(60))
                let next = try await self.text(app)
                #expect(next != text)
                text = next
            }
        }
    }

    @Test("a module that takes the place of another keeps the file")
    func successor() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            _ = try await text(app)
            try await app.reload(
                slatefile: slatefile(config: "{}").replacing(
                    "\"com.mm.metrics\"", with: "\"com.mm.figures\""))
            let task = "com.mm.figures/first-write"
            try await app.startupTask(task)
            try await written(app)
            #expect(app.folder.names == ["hostd.prom"])
        }
    }

    @Test("it writes after something happened, once per interval, and is idle otherwise")
    func interval() async throws {
        try await TestHost.run(slatefile: slatefile(config: #"{ "interval": "3s" }"#)) { app in
            let pushes = #"hostd_events_total{app="demo",event="push"}"#
            try await written(app)
            for count in [1, 2] {
                try await app.deliver(.push, "{}")
                try await app.deliver(.push, "{}")
                try await app.settle()
                let before = try app.folder.text(of: "hostd.prom")
                app.time.advance(by: .seconds(3) - .nanoseconds(1))
                try await app.settle()
                #expect(try app.folder.text(of: "hostd.prom") == before)
                app.time.advance(by: .nanoseconds(1))
                let after = try await text(app)
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
            let before = try await text(app)
            try await app.deliver(.memoryWarning)
            try await app.settle()
            app.time.advance(by: .seconds(15) - .nanoseconds(1))
            try await app.settle()
            #expect(try app.folder.text(of: "hostd.prom") == before)
            app.time.advance(by: .nanoseconds(1))
            #expect(try await text(app) != before)
        }
    }

    @Test("changed settings hold from the next write on; wrong ones never")
    func reload() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.startupTask(firstWrite)
            try await written(app)
            try await app.reload("com.mm.metrics", config: #"{ "file": "other.prom" }"#)
            try await app.reload("com.mm.metrics", config: #"{ "fil": "third.prom" }"#)
            app.time.advance(by: .seconds(15))
            let text = try await text(app, "other.prom")
            #expect(app.folder.names == ["other.prom"])
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
        let push = #", { "id": "com.mm.push", "entry": "Modules.PushModule" }"#
        let broken = """
            , { "id": "com.mm.journal", "entry": "Modules.JournalModule",
                "config": { "file": "." } }
            """
        try await TestHost.run(slatefile: slatefile(others: push + broken)) { app in
            try await written(app)
            try await app.deliver(.push, #"{ "uri": 5 }"#)
            await #expect(throws: TestHostError.self) { try await app.deliver(.foreground) }
            try await app.settle()
            app.time.advance(by: .seconds(15))
            let text = try await text(app)
            #expect(figure(#"hostd_handler_failures_total{app="demo"}"#, in: text) == "2")
            #expect(figure(#"hostd_events_ignored_total{app="demo"}"#, in: text) == "1")
            #expect(figure(#"hostd_modules{app="demo",status="running"}"#, in: text) == "3")
            #expect(figure(#"hostd_modules{app="demo",status="failed"}"#, in: text) == "1")
            let journal = #"hostd_module_state{app="demo",module="com.mm.journal",state="failed"}"#
            #expect(figure(journal, in: text) == "1")
        }
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
                try await written(app)
            }
            try await written(app)
            try await turn()
            let report =
                "cannot write '\(folder.path)/later/hostd.prom': No such file or directory; make "
                + "its folder, or give another 'file' in this module's config"
            #expect(app.messages(of: "com.mm.metrics") == [report])
            try makeFolders(folder.path("later"))
            try await turn()
            #expect(
                app.messages(of: "com.mm.metrics") == [report, "the figures are written again"])
            #expect(try folder.text(of: "later/hostd.prom").hasPrefix("# HELP "))
        }
        #expect(end == .stopped)
    }

    @Test("a file that is a folder is an error that says what to do; nothing else is left there")
    func folder() async throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("hostd.prom"))
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await written(app)
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
            try await written(app)
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
        try await TestHost.run(slatefile: slatefile()) { app in
            try await written(app)
            #expect(try app.folder.mode(of: "hostd.prom") == 0o644)
            #expect(app.folder.names == ["hostd.prom"])
        }
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
