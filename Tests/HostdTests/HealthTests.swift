import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd health", .timeLimit(.minutes(10)))
struct HealthTests {
    @Test("a host that is ready and healthy: 0")
    func healthy() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let outcome = try run.hostd("health")
        #expect(outcome.output == "healthy: active, 2 modules\n")
        #expect(outcome.error == "")
        #expect(outcome.exit == .code(0))
        #expect(
            try run.hostd("health", "--json").output
                == #"{"ready":true,"healthy":true,"state":"active","modules":2,"unresponsive":[],"failed":[]}"#
                + "\n")
    }

    @Test("no host: 69")
    func none() throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(["health"], in: folder.path)
        #expect(outcome.exit == .code(69))
        #expect(
            outcome.error == """
                hostd health: no host runs on the state directory '.hostd'
                start one with 'hostd run'; one that has another state directory is found by --state-dir or $STATE_DIRECTORY

                """)
    }

    @Test(
        "a host whose reload launches a module slowly is healthy, with a note",
        .enabled(if: NewCommandTests.hasPython))
    func slowReload() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let library = try Repository.text(of: "Examples/modules/modulehost.py")
        try run.folder.write(library, to: "modulehost.py")
        try run.folder.write(
            """
            from modulehost import *
            module = Module()

            @module.on("launch")
            def launch(event):
                module.log.info("the launch has begun")
                open("go").read()  # a named pipe: waits for its writer

            module.run()

            """, to: "slow.py")
        try run.folder.write(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.journal", "entry": "Modules.JournalModule"},
              {"id": "x.slow", "command": ["python3", "slow.py"]}
            ]}
            """, to: "slatefile.json")
        #expect(mkfifo(run.folder.path("go"), 0o600) == 0)
        let reload = try HostProcess(["reload"], in: run.folder.path)
        try run.process.waitForLine(containing: "the launch has begun")
        let outcome = try run.hostd("health", "--within", "200ms")
        #expect(
            outcome.output
                == "healthy: active, 2 modules; a reload launches x.slow, which keeps the host busy\n"
        )
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        close(open(run.folder.path("go"), O_WRONLY))
        #expect(try reload.waitForExit().output == "applied: added x.slow\n")
        #expect(try run.hostd("health").output == "healthy: active, 3 modules\n")
    }

    @Test("a module that failed makes no host unhealthy")
    func failed() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        let outcome = try run.hostd("health")
        #expect(outcome.output == "healthy: active, 2 modules; failed: x.journal\n")
        #expect(outcome.exit == .code(0))
    }

    @Test(
        "READY says how many modules run of how many; --strict: a module that failed makes the host unhealthy"
    )
    func failedModule() throws {
        let folder = try TemporaryFolder()
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.journal", "entry": "Modules.JournalModule", "config": {"file": "none/journal"}},
              {"id": "x.dead", "command": ["/bin/false"]}
            ]}
            """
        let run = try HostdRun(slatefile, in: folder).ready()
        #expect(run.process.textSoFar(.output).hasSuffix(" of=3\n"))
        #expect(run.process.textSoFar(.output).contains(" modules=1 ms="))
        try run.process.waitForLine(containing: "ready: 1 of 3 modules")
        let outcome = try run.hostd("health", "--strict")
        #expect(outcome.output == "unhealthy: active, 3 modules; failed: x.journal, x.dead\n")
        #expect(outcome.exit == .code(70))
        // Without, the app goes on without them, as its slatefile says.
        #expect(try run.hostd("health").exit == .code(0))
    }

    @Test("half of the modules late: 70, until they return")
    func unhealthy() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "50ms"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: "unhealthy: 1 of 2 modules are unresponsive")
        let outcome = try run.hostd("health")
        #expect(outcome.output == "unhealthy: background, 2 modules; unresponsive: x.journal\n")
        #expect(outcome.exit == .code(70))
        pipe.empty()
        try run.process.waitForLine(containing: "responsive again")
        #expect(try run.hostd("health").exit == .code(0))
    }

    @Test("a host that hangs in its launch does not answer in time, and then is not ready yet: 75")
    func launching() throws {
        let (run, pipe) = try FullPipe.run(#"{"launch": "1h"}"#, isFull: true)
        try run.process.waitForLine(containing: " runs 'test' of ")
        var outcome = try run.hostd("health", "--within", "100ms")
        // As long as it does not hang yet.
        while outcome.output.hasPrefix("not ready: launching, 2 modules") {
            #expect(outcome.exit == .code(75))
            outcome = try run.hostd("health", "--within", "100ms")
        }
        #expect(outcome.exit == .code(75))
        #expect(
            outcome.error == """
                hostd health: the host is busy: module 'x.journal' is running, and the request \
                was not reached within 100ms; try again

                """)
        pipe.empty()
        #expect(try run.ready().hostd("health").exit == .code(0))
    }

    @Test("a process that was stopped does not keep the command: 75")
    func stoppedProcess() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        run.process.suspend()
        let outcome = try run.hostd("health", "--within", "100ms")
        #expect(outcome.exit == .code(75))
        #expect(
            outcome.error
                == "hostd health: the host (process \(run.process.processID)) is stopped, and answers when "
                + "'kill -CONT \(run.process.processID)' lets it go on\n"
                + "hostd health: the host on the state directory '.hostd' did not answer 'health' within "
                + "1.1s\n")
        run.process.send(SIGCONT)
        #expect(try run.hostd("health").exit == .code(0))
    }

    @Test("a limit that is none: 64")
    func usage() throws {
        let outcome = try HostProcess.run(["health", "--within", "5"])
        #expect(outcome.exit == .code(64))
        #expect(
            outcome.error.hasPrefix(
                "hostd health: --within: a duration needs its unit: \"5ms\", \"5s\" or \"5m\"?\n"))
    }
}
