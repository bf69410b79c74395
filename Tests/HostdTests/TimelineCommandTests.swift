import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd timeline", .timeLimit(.minutes(10)))
struct TimelineCommandTests {
    private static let report =
        #"{"running":true,"knownSince":"2026-02-01T00:00:00.000Z","time":"2026-03-01T09:42:00.000Z","#
        + #""from":"2026-03-01T09:41:00.000Z","cut":true,"entries":["#
        + [
            #""what":"started","text":"host 1 started, process 7","pid":7"#,
            #""module":"x.b","what":"process-started","text":"process 8 started""#,
            #""what":"start-up-task","text":"t","task":"x.b/t","outcome":"succeeded","ms":1500"#,
            #""what":"ready","text":"ready after 1.9s, 2 modules run","ms":1900"#,
            #""what":"delivered","text":"message a<b> took 700ms: 2 modules, 1 failed","#
                + #""event":"message","topic":"a<b>","ms":700,"failed":1,"unresponsive":0"#,
            #""module":"x.b","what":"failed","text":"failed: no""#,
            #""what":"delivered","text":"push took 2.5s: 1 module","event":"push","ms":2500,"#
                + #""failed":0,"unresponsive":0"#,
            #""module":"x.b","what":"launched","text":"launched""#,
        ].enumerated().map { index, members in
            #"{"atMs":\#(index * 1000),"time":"2026-03-01T09:41:0\#(index).000Z",\#(members)}"#
        }.joined(separator: ",") + "]}"

    @Test("as text and JSON, and what the options may be")
    func text() throws {
        let host = try StandIn(["timeline": Self.report])
        #expect(
            try host.hostd("timeline").output == """
                2026-03-01T09:41:00.000Z  host 1 started, process 7
                2026-03-01T09:41:01.000Z  x.b: process 8 started
                2026-03-01T09:41:02.000Z  t
                2026-03-01T09:41:03.000Z  ready after 1.9s, 2 modules run
                2026-03-01T09:41:04.000Z  message a<b> took 700ms: 2 modules, 1 failed
                2026-03-01T09:41:05.000Z  x.b: failed: no
                2026-03-01T09:41:06.000Z  push took 2.5s: 1 module
                2026-03-01T09:41:07.000Z  x.b: launched
                earlier entries are left out: '--limit' shows more than 8; the record begins at
                2026-02-01T00:00:00.000Z

                """)
        #expect(try host.hostd("timeline", "--json").output == Self.report + "\n")
        #expect(try host.hostd("timeline", "--format", "json").output == Self.report + "\n")
        let asked = try StandIn().hostd("timeline", "--since", "5m", "--limit", "7", "--json")
        #expect(asked.output == #"{"since":"5m","limit":7}"# + "\n")
        for words in [["--since", "soon"], ["--limit", "0"], ["--format", "dot"]] {
            let outcome = try HostProcess.run(["timeline"] + words, in: host.folder.path)
            #expect(outcome.exit == .code(64), "\(words)")
        }
    }

    @Test("as SVG: a bar for what took time, escaped")
    func svg() throws {
        let svg = try StandIn(["timeline": Self.report]).hostd("timeline", "--format", "svg").output
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("message a&lt;b&gt;<tspan class=\"s\"> 700ms</tspan>"))
        #expect(svg.contains("x.b failed") && svg.contains("READY 3s"))
    }

    @Test("as a trace: the slices of each thread nest")
    func trace() throws {
        let text = try StandIn(["timeline": Self.report]).hostd("timeline", "--format", "trace")
        let value = try JSONValue(parsing: text.output)
        let events = Array(try #require(value["traceEvents"]).elements)
        let slices = events.filter { $0["ph"]?.string == "X" }
        #expect(
            Set(slices.compactMap { $0["name"]?.string }) == [
                "x.b process", "x.b/t", "start", "message a<b>", "push", "x.b failed",
            ])
        let task = try #require(slices.first { $0["name"]?.string == "x.b/t" })
        #expect(task["ts"]?.int == 500_000 && task["dur"]?.int == 1_500_000)
        let failed = try #require(slices.first { $0["name"]?.string == "x.b failed" })
        #expect(failed["dur"]?.int == 2_000_000)
        #expect(events.contains { $0["ph"]?.string == "i" && $0["name"]?.string == "READY" })
        expectNested(slices)
    }

    /// Checks that no two slices of a thread overlap without one being in the other.
    private func expectNested(_ slices: [JSONValue]) {
        let threads = Dictionary(grouping: slices) { $0["tid"]?.int ?? -1 }
        for (thread, slices) in threads {
            var open: [Double] = []
            let sorted = slices.map { ($0["ts"]?.double ?? -1, $0["dur"]?.double ?? -1) }
                .sorted { ($0.0, -$0.1) < ($1.0, -$1.1) }
            for (start, time) in sorted {
                #expect(start >= 0 && time >= 0)
                while let end = open.last, end <= start { open.removeLast() }
                if let end = open.last { #expect(start + time <= end, "thread \(thread)") }
                open.append(start + time)
            }
        }
    }

    @Test("any entries, in any order, make a trace whose slices nest", arguments: 0..<20)
    func anyEntries(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let kinds = [
            "started", "ready", "delivered", "took", "start-up-task", "failed", "launched",
            "unresponsive", "responsive", "process-started", "process-ended", "unloaded",
            "stopping",
        ]
        let entries = try (0..<200).map { _ in
            let what = try #require(kinds.randomElement(using: &random))
            let name = Int.random(in: 0..<3, using: &random)
            return try JSONValue(
                parsing: """
                    {"atMs":\(Int.random(in: -50..<5000, using: &random)),"what":"\(what)","text":"t",
                     "module":"x.\(name)","event":"push","topic":"\(name)","task":"x.\(name)/t",
                     "outcome":"failed","ms":\(Int.random(in: 0..<900, using: &random))}
                    """)
        }
        let trace = TimelineTrace(tracks: TimelineTracks(entries), title: "t")
        let value = try JSONValue(parsing: trace.json)
        let events = try #require(value["traceEvents"])
        expectNested(events.elements.filter { $0["ph"]?.string == "X" })
    }

    @Test("a host that runs, and one that was killed")
    func host() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let lines = try run.hostd("timeline").output
        #expect(lines.contains("Z  host ") && lines.contains("Z  x.journal: launched\n"))
        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
        let left = try run.hostd("timeline")
        #expect(left.exit == .code(0) && left.output.hasPrefix(lines))
        let json = try JSONValue(parsing: run.hostd("timeline", "--json").output)
        #expect(json["running"]?.bool == false)
        let empty = try TemporaryFolder()
        let none = try HostProcess.run(["timeline"], in: empty.path)
        #expect(none.exit == .code(69))
    }
}
