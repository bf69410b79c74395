import Glibc
import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd why", .timeLimit(.minutes(10)))
struct WhyCommandTests {
    @Test("what a host answers, for people and for programs")
    func answer() throws {
        let json =
            #"{"running":true,"summary":"Demo: active since 2026-03-01T09:41:00.123Z, process 7","#
            + #""time":"2026-03-01T09:43:05.123Z","findings":[{"module":"x.b","state":"failed","#
            + #""since":"2026-03-01T09:41:00.123Z","forMs":125000,"reason":"launch: cannot open "#
            + #"'/var/lib/acme/inventory/stock.db': No such file or directory; make its folder","#
            + #""neededBy":["x.c","x.d"],"events":3,"calls":1,"next":"restarting in 3s","#
            + #""command":"hostd restart x.b"},{"state":"inbox","reason":"disk full","#
            + #""command":"hostd inbox"}],"record":[{"time":"2026-03-01T09:41:00.100Z","#
            + #""module":"x.b","what":"created","text":"created"},"#
            + #"{"time":"2026-03-01T09:41:00.123Z","module":"x.b","what":"failed","#
            + #""text":"failed: launch: cannot open '/var/lib/acme/inventory/stock.db': No such file"}]}"#
        let host = try StandIn(["why": json])
        #expect(try host.hostd("why", "--json").output == json + "\n")
        let outcome = try host.hostd("why", "x.b")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(
            outcome.output == """
                Demo: active since 2026-03-01T09:41:00.123Z, process 7

                x.b: failed since 2026-03-01T09:41:00.123Z (2m05s)
                  reason     launch: cannot open '/var/lib/acme/inventory/stock.db': No such
                             file or directory; make its folder
                  needed by  x.c, x.d
                  waiting    3 events, 1 call
                  next       restarting in 3s
                  command    hostd restart x.b

                inbox
                  reason     disk full
                  command    hostd inbox

                2026-03-01T09:41:00.100Z  created
                2026-03-01T09:41:00.123Z  failed: launch: cannot open
                                          '/var/lib/acme/inventory/stock.db': No such file

                """)
    }

    @Test("a host in which nothing is wrong, a failed module, and both after the host's death")
    func story() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let well = try run.hostd("why")
        #expect(well.exit == .code(0) && well.output.hasSuffix("\nnothing is wrong\n"))
        let main = try JSONValue(parsing: run.hostd("why", "x.main", "--json").output)
        #expect(main["findings"]?.elements.map { $0["state"]?.string } == ["running"])
        #expect(
            main["record"]?.elements.compactMap { $0["what"]?.string } == ["created", "launched"])
        let unknown = try run.hostd("why", "x.mian")
        #expect(unknown.exit == .code(69))
        #expect(unknown.error.contains("no module 'x.mian'; did you mean 'x.main'?"))

        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
        let dead = try run.hostd("why")
        #expect(dead.exit == .code(0))
        // In lines of 80 characters.
        let words = dead.output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(
            words.hasPrefix(
                "no host runs on the state directory '.hostd'; the last host (process \(run.process.processID)) died "
            ))
        #expect(words.contains(" x.main: launched "))
        let left = try run.hostd("why", "x.main")
        #expect(left.output.contains("\nx.main: not running\n  reason     the last host (process "))
        #expect(left.output.hasSuffix("Z  launched\n"))
        let other = try run.hostd("why", "x.mian")
        #expect(other.exit == .code(69))
        #expect(
            other.error
                == "hostd why: no module 'x.mian'; did you mean 'x.main'?\nno event in the inbox has this id either\n"
        )
    }

    @Test("a module that failed, and the problems of a host")
    func failed() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        let report = try JSONValue(parsing: run.hostd("why", "--json").output)
        let findings = try #require(report["findings"]).elements.map(\.self)
        #expect(findings.map { $0["module"]?.string } == ["x.journal"])
        #expect(findings.first?["command"]?.string == "hostd restart x.journal")
        #expect(findings.first?["reason"]?.string?.hasPrefix("launch: cannot open ") == true)
        #expect(try run.hostd("stop").exit == .code(0))
        _ = try run.ended()
        #expect(try run.hostd("why").output.contains("; the last host (process"))
    }

    @Test("no host, and nothing that one has left: 69")
    func nothing() throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["why"], in: folder.path)
        #expect(outcome.exit == .code(69))
        #expect(
            outcome.error.hasPrefix("hostd why: no host runs on the state directory '.hostd'\n"))
        #expect(try HostProcess.run(["why", "a", "b"], in: folder.path).exit == .code(64))
    }
}
