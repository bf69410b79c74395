import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

/// The output of `hostd why` for a trace, and the way of a trace through processes.
@Suite("hostd why of a trace", .timeLimit(.minutes(10)))
struct WhyTraceTests {
    private static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    /// Two programs, one of which sends on what it hears, and one that calls and posts.
    private func run() throws -> HostdRun {
        let folder = try TemporaryFolder()
        try folder.write(
            Repository.text(of: "Examples/modules/modulehost.py"), to: "modulehost.py")
        try folder.write(
            """
            from modulehost import *
            module = Module()
            @module.on("push")
            def push(event):
                module.send("message", {"topic": "told", "payload": event.id}, id="told-" + event.id)
            module.run()
            """, to: "first.py")
        try folder.write(
            """
            from modulehost import *
            module = Module()
            @module.topic("told")
            def told(event):
                module.log.info("told in %s", event.traceparent)
                module.post("heard")
            @module.route("greet", access="public")
            def greet() -> str:
                module.post("greeted")
                return module.traceparent or "no trace"
            module.run()
            """, to: "second.py")
        return try HostdRun(
            """
            {"slate": 1, "app": "test", "schemes": ["test"], "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.journal", "entry": "Modules.JournalModule"},
              {"id": "x.first", "command": ["python3", "first.py"]},
              {"id": "x.second", "command": ["python3", "second.py"]}
            ]}
            """, in: folder
        ).ready()
    }

    @Test(
        "an event, what a program sends in it, and what another posts then; after the host, too",
        .enabled(if: NewCommandTests.hasPython))
    func event() throws {
        let run = try run()
        let sent = try run.hostd(
            "send", "push", "--payload", #"{"aps": {"alert": "secret"}}"#, "--id", "one",
            "--traceparent", Self.text, "--wait")
        #expect(sent.exit == .code(0), "\(sent.error)")
        try run.process.waitForLine(containing: "told in \(Self.text)")
        try run.waitForJournal(last: "message")
        try run.process.waitForLine(containing: "topic=heard")
        let why = try run.hostd("why", Self.id)
        #expect(why.exit == .code(0), "\(why.error)")
        let lines = why.output.split(separator: "\n").map(String.init)
        // More than these three where a module took long.
        #expect(lines[0].hasPrefix("trace \(Self.id): "), "\(why.output)")
        let text = why.output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(text.contains(" push took "))
        #expect(text.contains(" message told took "))
        #expect(text.contains(" message heard of x.second took "), "\(text)")
        // Each below what has set it off.
        let record = try JSONValue(parsing: run.hostd("why", Self.id, "--json").output)["record"]
        let rows = record?.elements.map(\.self) ?? []
        func depth(_ what: String, _ topic: String?) -> Int? {
            rows.first { $0["what"]?.string == what && $0["topic"]?.string == topic }
                .map { $0["depth"]?.int ?? 0 }
        }
        #expect(depth("delivered", nil) == 0)
        #expect(depth("sent", "told") == 1)
        #expect(depth("delivered", "told") == 2)
        #expect(depth("delivered", "heard") == 3, "\(why.output)")
        #expect(!why.output.contains("secret"))
        #expect(lines.allSatisfy { $0.count <= 80 })
        // The whole traceparent, and an event that is a part of it.
        #expect(try run.hostd("why", Self.text).output == why.output)
        let event = try JSONValue(parsing: run.hostd("why", "told-one", "--json").output)
        #expect(event["event"]?["trace"]?.string == Self.id)
        #expect((event["record"]?.count ?? 0) >= 3)
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.hostd("why", Self.id).output == why.output)
    }

    @Test(
        "a call is an entry with its caller, and what it posts is a part of it",
        .enabled(if: NewCommandTests.hasPython))
    func call() throws {
        let run = try run()
        let reply = try run.hostd("call", "x.second", "greet", "--traceparent", Self.text)
        #expect(reply.output == "\"\(Self.text)\"\n")
        #expect(try run.hostd("call", "x.second", "greet").output == "\"no trace\"\n")
        let unknown = try run.hostd("call", "x.second", "nothing", "--traceparent", Self.text)
        #expect(unknown.exit == .code(69))
        try run.process.waitForLine(containing: "topic=greeted")
        let why = try JSONValue(parsing: run.hostd("why", Self.id, "--json").output)
        let record = why["record"]?.elements.map(\.self) ?? []
        // The message may be delivered before the call has its answer, and after.
        #expect(
            record.compactMap { $0["what"]?.string }.sorted() == ["called", "called", "delivered"])
        #expect(record.allSatisfy { $0["trace"]?.string == Self.id })
        let posted = record.first { $0["what"]?.string == "delivered" }
        #expect(posted?["depth"]?.int == 1)
        #expect(record.contains { $0["span"] == posted?["parent"] && $0["failure"] == nil })
        let failed = record.first { $0["failure"] != nil }
        #expect(failed?["target"]?.string == "x.second nothing")
        #expect(failed?["failure"]?.string == "no such route")
        #expect(failed?["caller"]?.string?.contains("uid") == true)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a trace of which nothing is kept: unknown, with the reason, and kept with --record all")
    func unknown() throws {
        let quiet = Self.text.dropLast() + "0"
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let why = try run.hostd("why", Self.id)
        #expect(why.exit == .code(69))
        #expect(why.error.contains("nothing of the trace \(Self.id) is in the record"))
        #expect(why.error.contains("--record all"))
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.hostd("why", Self.id).exit == .code(69))
        let all = try HostdRun(HostdRun.slatefile(), ["--record", "all"]).ready()
        let sent = try all.hostd("post", "quick", "--traceparent", String(quiet))
        #expect(sent.exit == .code(0), "\(sent.error)")
        try all.process.waitForLine(containing: "topic=quick")
        #expect(try all.hostd("why", Self.id).output.contains("message quick took"))
        #expect(try all.terminated().exit == .code(0))
    }
}
