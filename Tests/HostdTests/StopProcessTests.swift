import Glibc
import ModuleHost
import TestSupport
import Testing

/// The ends of the processes of modules, with the real host.
@Suite("hostd run: the processes of modules at the end of the host", .timeLimit(.minutes(10)))
struct StopProcessTests {
    private static func slatefile(_ names: [String], deadlines: String, more: String = "") -> String
    {
        let modules = names.map {
            #"{"id": "x.\#($0)", "command": ["sh", "\#($0).sh"]\#(more)}"#
        }
        return """
            {"slate": 1, "app": "test", "deadlines": \(deadlines), "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              \(modules.joined(separator: ",\n  "))
            ]}
            """
    }

    @Test("programs that linger receive SIGTERM together, and the stop is in order")
    func lingering() throws {
        let folder = try TemporaryFolder()
        for name in ["a", "b", "c"] {
            try folder.write(
                ShellModule.program(
                    "x.\(name)", "",
                    #"*'"shutdown"'*) echo $$ >>asked; printf '{"jsonrpc":"2.0","id":%s,"result":null}\n' "$id"; exec sleep 300 ;;"#
                ), to: "\(name).sh")
        }
        let run = try HostdRun(
            Self.slatefile(["a", "b", "c"], deadlines: #"{"stop": "2s"}"#), in: folder
        ).ready()
        let ended = try run.terminated()
        #expect(ended.exit == .code(0))
        let lines = ended.error.split(separator: "\n").filter {
            $0.contains("after 'shutdown'; it receives SIGTERM")
        }
        #expect(lines.count == 3)
        // One clock: the host has sent all of the signals before the first of these programs has ended.
        let asked = try ShellModule.numbers("asked", of: run)
        #expect(asked.count == 3)
        #expect(ShellModule.running(asked) == [])
    }

    @Test("a program that exits in 'terminate' has answered", arguments: [0, 3])
    func exitsInTerminate(code: Int) throws {
        let folder = try TemporaryFolder()
        try folder.write(
            ShellModule.program(
                "x.a", #""terminate""#, #"*'"terminate"'*) echo told >>told; exit \#(code) ;;"#),
            to: "a.sh")
        let run = try HostdRun(Self.slatefile(["a"], deadlines: "{}"), in: folder).ready()
        let ended = try run.terminated()
        #expect(ended.exit == .code(0))
        #expect(try folder.text(of: "told") == "told\n")
        #expect(!ended.error.contains("started again"))
    }

    @Test("in a stop, a module in a process of its own has the time of a step of the stop")
    func deadlines() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            ShellModule.program(
                "x.a", #""background", "terminate""#, #"*'"event"'*) echo "$line" >>events ;;"#),
            to: "a.sh")
        let run = try HostdRun(
            Self.slatefile(["a"], deadlines: #"{"event": "3s", "stop": "7s"}"#), in: folder
        ).ready()
        #expect(try run.terminated().exit == .code(0))
        let events = try folder.text(of: "events").split(separator: "\n")
        #expect(events.count == 2)
        for event in events { #expect(event.contains(#""deadlineMs":7000"#), "\(event)") }
    }

    /// A module that hangs in its end, and has started a process that leaves its group.
    private static let stubborn =
        ShellModule.startOfOther
        + ShellModule.program("x.a", "", #"*'"shutdown"'*) exec sleep 300 ;;"#)

    @Test("a second signal leaves no process behind, nor one in a session of its own")
    func secondSignal() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.stubborn, to: "a.sh")
        let run = try HostdRun(
            Self.slatefile(["a"], deadlines: #"{"stop": "1h", "stopAll": "3h"}"#), in: folder
        ).ready()
        let left = try ShellModule.numbers("pids", of: run)
        #expect(ShellModule.running(left) == left && left.count == 2)
        run.process.send(SIGTERM)
        try run.process.waitForLine(
            containing: "the stop has taken 1s so far: the process of x.a has not ended")
        run.process.send(SIGINT)
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(ended.error.contains("killed processes that modules of this host had left"))
        #expect(ShellModule.running(left) == [])
    }

    @Test("a stop that is short of time leaves no process behind either")
    func outOfTime() throws {
        let folder = try TemporaryFolder()
        // A process that has ignored SIGTERM since its start, and its group.
        try folder.write("trap '' TERM\n" + Self.stubborn, to: "a.sh")
        let run = try HostdRun(
            Self.slatefile(["a"], deadlines: #"{"stop": "1h", "stopAll": "1s"}"#), in: folder
        ).ready()
        let left = try ShellModule.numbers("pids", of: run)
        _ = try run.terminated()
        #expect(ShellModule.running(left) == [])
    }

    @Test("what a module handles when the host ends at once is delivered by the next host")
    func durable() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            ShellModule.program(
                "x.a", #""push""#,
                #"*'"push"'*) echo "$line" >>events; if [ -e hang ]; then exec sleep 300; fi ;;"#),
            to: "a.sh")
        try folder.write("", to: "hang")
        let slatefile = Self.slatefile(
            ["a"], deadlines: #"{"event": "1h"}"#, more: #", "killAfter": "2h""#)
        let run = try HostdRun(slatefile, in: folder).ready()
        #expect(
            try run.hostd("send", "push", "--payload", "{}", "--id", "one").exit == .code(0))
        #expect(
            try run.hostd("send", "push", "--payload", "{}", "--id", "two").exit == .code(0))
        while (try? folder.text(of: "events").contains("one")) != true {
            _ = try run.hostd("status")
        }
        #expect(try run.hostd("stop", "--now").exit == .code(0))
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(!ended.error.contains("started again"))
        #expect(unlink(folder.path("hang")) == 0)

        let next = try HostdRun(slatefile, in: folder).ready()
        while (try? folder.text(of: "events").contains("two")) != true {
            _ = try next.hostd("status")
        }
        #expect(try next.terminated().exit == .code(0))
        let events = try folder.text(of: "events").split(separator: "\n")
        #expect(events.map { $0.contains(#""one""#) } == [true, true, false])
        #expect(events.map { $0.contains(#""repeated":true"#) } == [false, true, false])
    }
}
