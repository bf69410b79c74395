import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd startup", .timeLimit(.minutes(10)))
struct StartupCommandTests {
    private static let report =
        #"{"readyMs":1690.1,"chain":[{"kind":"module","name":"x.store","startedMs":0,"ms":180,"#
        + #""awaited":true},{"kind":"task","name":"x.login/directory","startedMs":180,"ms":1500,"#
        + #""awaited":true}],"steps":[{"kind":"module","name":"x.store","startedMs":0,"ms":180,"#
        + #""awaited":true},{"kind":"task","name":"x.login/directory","startedMs":180,"ms":1500,"#
        + #""awaited":true},{"kind":"task","name":"x.cache/warm","startedMs":900,"ms":791,"#
        + #""waitedMs":500,"awaited":false,"problem":"failed: no <route>"},{"kind":"launch","#
        + #""name":"launch","startedMs":1680.5,"awaited":true}],"omitted":3}"#

    @Test("what READY waited for, the slowest steps, and the picture")
    func texts() throws {
        let host = try StandIn(["startup": Self.report])
        #expect(
            try host.hostd("startup").output == """
                @0ns    +180ms  module  x.store
                @180ms  +1.5s   task    x.login/directory
                @1.69s          READY

                """)
        #expect(
            try host.hostd("startup", "blame").output == """
                …      launch  (not over)
                1.5s   task    x.login/directory
                791ms  task    x.cache/warm (failed: no <route>; READY did not wait for it)
                180ms  module  x.store
                3 faster steps are left out

                """)
        let plot = try host.hostd("startup", "plot").output
        #expect(
            plot == """
                x.store (module)         180ms │████                                          │
                x.login/directory (task)  1.5s │    █████████████████████████████████████████ │
                x.cache/warm (task)      791ms │          ··············▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│!
                launch                       … │                                             ▒│
                0 to 1.69s, █ READY waited for it, ▒ other steps, · waits, ! a problem
                3 faster steps are left out

                """)
        #expect(plot.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(try host.hostd("startup", "--json").output == Self.report + "\n")
        let svg = try host.hostd("startup", "plot", "--format", "svg").output
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("failed: no &lt;route&gt;") && svg.contains("READY 1.69s"))
        #expect(try host.hostd("startup", "blame", "--format", "svg").exit == .code(64))
    }

    @Test("a host: its module with a slow process is in the chain, and in the status")
    func host() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let report = try JSONValue(parsing: run.hostd("startup", "--json").output)
        #expect(report["readyMs"] != nil)
        #expect(report["steps"]?.elements.contains { $0["kind"]?.string == "launch" } == true)
        let chain =
            #"[{"kind":"task","name":"x.a/b","startedMs":0,"ms":1500,"awaited":true},"#
            + #"{"kind":"root","name":"root","startedMs":0,"ms":2,"awaited":true}]"#
        let slow = try StandIn(["status": #"{"app":"test","startup":\#(chain)}"#])
        #expect(
            try slow.hostd("status").output.contains("\nstart-up      x.a/b 1.5s\n"))
    }

    @Test("the launches before, from a file that outlives the hosts; and a report of one's own")
    func earlier() throws {
        let folder = try TemporaryFolder()
        var starts: [String] = []
        for _ in 0..<4 {
            let run = try HostdRun(HostdRun.slatefile(), in: folder).ready()
            let report = try JSONValue(parsing: run.hostd("startup", "--json").output)
            starts.append(try #require(report["startedAt"]?.string))
            if starts.count == 4 {
                let former = try JSONValue(
                    parsing: run.hostd("startup", "--launch", "-1", "--json").output)
                #expect(former["startedAt"]?.string == starts[2] && former["readyMs"] != nil)
                let none = try run.hostd("startup", "--launch", "-7")
                #expect(none.exit == .code(69) && none.error.contains("launch -7 is not kept"))
            }
            #expect(try run.terminated().exit == .code(0))
        }
        func hostd(_ arguments: String...) throws -> HostProcess.Outcome {
            try HostProcess.run(["startup"] + arguments, in: folder.path)
        }
        let newest = try hostd()
        #expect(newest.output.hasPrefix("the host that started at \(starts[3])\n@"))
        #expect(newest.output.contains("READY"))
        #expect(
            try hostd("--launch=-2").output.hasPrefix("the host that started at \(starts[1])\n"))
        let forgotten = try hostd("--launch", "-3")
        #expect(forgotten.exit == .code(69))
        #expect(
            forgotten.error.contains("launch -3 is not kept: there are 3, the newest of which is 0")
        )
        for number in ["1", "-9223372036854775808", "x"] {
            #expect(try hostd("--launch", number).exit == .code(64))
        }

        try folder.write(Self.report, to: "report.json")
        #expect(try hostd("--file", "report.json").output.hasSuffix("@1.69s          READY\n"))
        try folder.write("[1]", to: "report.json")
        #expect(try hostd("--file", "report.json").exit == .code(78))
        #expect(try hostd("--file", "none.json").exit == .code(66))
    }

    @Test("a launch that fails is kept, too, with the steps up to then")
    func failed() throws {
        let folder = try TemporaryFolder()
        let slatefile = HostdRun.slatefile(
            journal: #""required": true, "config": {"file": "none/journal.ndjson"}"#)
        let run = try HostdRun(slatefile, in: folder)
        #expect(try run.ended().exit == .code(70))
        let outcome = try HostProcess.run(["startup", "--json"], in: folder.path)
        #expect(outcome.exit == .code(0))
        let report = try JSONValue(parsing: outcome.output)
        #expect(report["readyMs"] == nil && report["startedAt"] != nil)
    }
}
