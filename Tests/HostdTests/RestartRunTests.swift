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
}
