import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd restart of a module in a process of its own", .timeLimit(.minutes(10)))
struct RestartRunTests {
    @Test("a module that answers is recreated; an unresponsive one is killed, and misses no event")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let program = RecordingProgram("x.program", in: folder)
        let command = String(decoding: try JSONEncoding.bytes(program.command), as: UTF8.self)
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.program", "command": \(command), "deadline": "100ms", "killAfter": "1h"}
            ]}
            """
        let run = try HostdRun(slatefile, in: folder).ready()
        func send(_ id: String, expecting code: Int32 = 0) throws {
            let sent = try run.hostd(
                "send", "push", "--payload", #"{"aps": {}}"#, "--id", id, "--wait")
            #expect(sent.exit == .code(code))
        }
        try send("first")
        let restarted = try run.hostd("restart", "x.program")
        #expect(restarted.exit == .code(0))
        #expect(restarted.output == "restarted\n")
        try send("hang", expecting: 75)
        try send("second", expecting: 75)
        #expect(try run.hostd("modules").output.contains("\nx.program  unresponsive "))
        let killed = try run.hostd("restart", "x.program", "--json")
        #expect(killed.exit == .code(0))
        #expect(killed.output == #"{"outcome":"killed"}"# + "\n")
        try run.process.waitForLine(containing: "responsive again: it has caught up")
        try send("third")
        #expect(try run.terminated().exit == .code(0))
        let events = try program.received
        #expect(
            events.map { ($0.id ?? "") + ($0.isRepeated ? " again" : "") }
                == ["first", "hang", "hang again", "second", "third"])
        #expect(Set(events.map(\.processID)).count == 3)
        #expect(events[0].processID != events[1].processID)
    }

    @Test(
        "restart, status and modules tell of a slatefile and a program that have changed",
        .enabled(if: NewCommandTests.hasPython))
    func changed() throws {
        func slatefile(_ version: Int) -> String {
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.python", "command": ["python3", "small.py"], "config": {"v": \(version)}}
            ]}
            """
        }
        let folder = try TemporaryFolder()
        let library = try Repository.text(of: "Examples/modules/modulehost.py")
        try folder.write(library, to: "modulehost.py")
        let program = "from modulehost import *\nmodule = Module()\nmodule.run()\n"
        try folder.write(program, to: "small.py")
        let run = try HostdRun(slatefile(1), in: folder).ready()
        func restarted() throws -> String {
            let outcome = try run.hostd("restart", "x.python")
            #expect(outcome.output == "restarted\n")
            return outcome.error
        }
        #expect(try restarted() == "")
        try folder.write(slatefile(2), to: "slatefile.json")
        let note =
            "hostd restart: slatefile.json has changed, and the slatefile in effect has not: "
            + "'hostd reload' applies the change\n"
        #expect(try restarted() == note)
        #expect(
            try run.hostd("status").output.contains(
                "slatefile.json, has changed: 'hostd reload' applies the change\n"))
        try folder.write("{", to: "slatefile.json")
        #expect(try run.hostd("reload").exit == .code(78))
        #expect(try restarted() == note)
        try folder.write(slatefile(2), to: "slatefile.json")
        #expect(try run.hostd("reload").exit == .code(0))
        #expect(try restarted() == "")
        #expect(!(try run.hostd("status").output.contains("has changed")))

        try folder.write(program + "# another version\n", to: "small.py")
        let outdated = "/small.py has changed: 'hostd restart x.python' runs it"
        #expect(try run.hostd("modules").unwrapped.contains(outdated))
        let runs = try restarted()
        #expect(runs.hasPrefix("hostd restart: it runs /"), "\(runs)")
        #expect(runs.contains("/small.py as written at 20"), "\(runs)")
        #expect(!(try run.hostd("modules").unwrapped.contains(outdated)))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("restart, status and modules tell that the host's program was replaced")
    func replaced() throws {
        let folder = try TemporaryFolder()
        let host = folder.path("host")
        func shell(_ script: String) throws {
            let outcome = try HostProcess.run(["-ec", script], program: "/bin/sh", in: folder.path)
            try #require(outcome.exit == .code(0), "\(outcome.error)")
        }
        try shell("cp '\(HostProcess.hostd)' host")
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""isolation": "process""#), in: folder, ["run"],
            program: host
        ).ready()
        #expect(try run.hostd("restart", "x.journal").error == "")
        try shell("echo new >new; chmod +x new; mv new host")
        let outcome = try run.hostd("restart", "x.journal")
        #expect(outcome.output == "restarted\n")
        #expect(
            outcome.error.hasPrefix("hostd restart: \(host) was replaced since the host started"))
        #expect(outcome.error.contains("until the host is restarted\n"))
        #expect(
            try run.hostd("status").output.contains(
                ", its file was replaced: restart the host to run the new one\n"))
        #expect(
            try run.hostd("modules").output.contains(
                "/host was replaced: restart the host to run it"))
        #expect(try run.terminated().exit == .code(0))
    }
}
