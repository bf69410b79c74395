import Glibc
import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

@Suite("hostd wait", .timeLimit(.minutes(10)))
struct WaitCommandTests {
    @Test("a host that starts later, its module, and one that it has not")
    func later() throws {
        let folder = try TemporaryFolder()
        let ready = try HostProcess(["wait"], in: folder.path)
        let module = try HostProcess(
            ["wait", "--for", "x.journal", "--ready", "--json"], in: folder.path)
        let run = try HostdRun(HostdRun.slatefile(), in: folder).ready()
        let outcome = try ready.waitForExit()
        #expect(outcome.exit == .code(0) && outcome.output == "ready\n", "\(outcome.error)")
        #expect(try module.waitForExit().output == "{\"outcome\":\"met\"}\n")
        #expect(try run.hostd("wait", "--for", "x.main").output == "x.main can be used\n")
        let unknown = try run.hostd("wait", "--for", "x.jurnal")
        #expect(unknown.exit == .code(69))
        #expect(
            unknown.error == "hostd wait: no module 'x.jurnal'; did you mean 'x.journal'?\n")
    }

    @Test("no host when the time is up: 69, also after one that was killed")
    func noHost() throws {
        let folder = try TemporaryFolder()
        let none = try HostProcess.run(["wait", "--timeout", "1ms"], in: folder.path)
        #expect(none.exit == .code(69))
        #expect(
            none.error
                == "hostd wait: time is up after 1ms: no host runs on the state directory '.hostd'\n"
        )
        let run = try HostdRun(HostdRun.slatefile(), in: folder).ready()
        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
        let dead = try run.hostd("wait", "--timeout", "1ms", "--json")
        #expect(dead.exit == .code(69))
        let json = try JSONValue(parsing: dead.output)
        #expect(json["outcome"]?.string == "no-host")
        #expect(
            json["reason"]?.string?.contains("(process \(run.process.processID)) died") == true)
    }

    @Test("a module that failed for good, and a start that fails: 70 with the reason")
    func failed() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        let outcome = try run.hostd("wait", "--for", "x.journal")
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error.hasPrefix(
                "hostd wait: failed for good: x.journal failed: launch: "), "\(outcome.error)")
        let host = try StandIn(["wait": #"{"outcome":"failed","reason":"a part is lost"}"#])
        let start = try host.hostd("wait")
        #expect(start.exit == .code(70))
        #expect(start.error == "hostd wait: failed for good: a part is lost\n")
    }

    @Test("what is missing when the time is up: 75")
    func missing() throws {
        let host = try StandIn([
            "wait":
                #"{"outcome":"waiting","missing":["the app is not ready","x.b is failed: no"]}"#
        ])
        let outcome = try host.hostd("wait", "--for", "x.b", "--ready", "--timeout", "90s")
        #expect(outcome.exit == .code(75))
        #expect(
            outcome.error
                == "hostd wait: time is up after 1m30s: the app is not ready; x.b is failed: no\n")
        let asked = try StandIn().hostd("wait", "--for", "x.b", "--timeout", "2s", "--json")
        #expect(asked.output.hasPrefix(#"{"module":"x.b","ready":false,"withinMs":"#))
        #expect(try host.hostd("wait", "--timeout", "soon").exit == .code(64))
    }
}
