import Glibc
import ModuleHost
import TestSupport
import Testing

/// A host as the first process of a PID namespace, as in a container.
@Suite(
    "hostd run: as process 1 of a container", .timeLimit(.minutes(10)),
    .enabled(if: Container.isPermitted, "'unshare --pid' is not permitted here: run it as root"))
struct ContainerTests {
    /// A module that leaves a process to process 1: neither the module nor the host can wait for it.
    private static let leaving = #"""
        #!/bin/sh
        (setsid sleep 1000 <&- >&- 2>&- &)
        while IFS= read -r line; do
            id=${line#*'"id":'} id=${id%%,*}
            result=null
            case $line in *'"initialize"'*) result='{"protocol":2,"module":"x.leaving"}' ;; esac
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            case $line in *'"shutdown"'*) exit ;; esac
        done
        """#

    private static let slatefile = """
        {"slate": 1, "app": "test", "signals": {"RTMIN+1": {"event": "memory-warning"}}, "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.leaving", "command": ["sh", "leaving.sh"]},
          {"id": "x.journal", "entry": "Modules.JournalModule"}
        ]}
        """

    private func start(
        _ arguments: [String] = [], in folder: TemporaryFolder? = nil,
        environment: [String: String] = [:]
    ) throws -> Container {
        let folder = try folder ?? TemporaryFolder()
        try folder.write(Self.slatefile, to: "slatefile.json")
        try folder.write(Self.leaving, to: "leaving.sh")
        return try Container(in: folder, arguments, environment: environment)
    }

    @Test("signals from outside reach the host, and the container ends in order with its code")
    func stopped() throws {
        for arguments in [[], ["--respawn"]] {
            let container = try start(arguments)
            for (signal, event) in [(SIGUSR1, "background"), (SIGUSR2, "activate")] {
                container.send(signal)
                try container.waitForJournal(last: event)
            }
            container.queue(realTime(1), value: 7)
            try container.waitForJournal(last: "memory-warning")
            #expect(try container.journal().last?["origin"]?["value"]?.int == 7)
            container.send(SIGTERM)
            let outcome = try container.ended()
            #expect(outcome.exit == .code(0))
            #expect(
                try container.journal().suffix(3).map { $0["event"]?.string } == [
                    "resign-active", "background", "terminate",
                ])
            #expect(outcome.output.split(separator: "\n").count == 1)
        }
    }

    @Test("a reload is asked by HUP from outside, and by the command inside")
    func reloaded() throws {
        let container = try start()
        let changed = Self.slatefile.replacing(
            #""app": "test","#, with: #""app": "test", "deadlines": {"event": "9s"},"#)
        try container.folder.write(changed, to: "slatefile.json")
        container.send(SIGHUP)
        try container.process.waitForLine(containing: "slatefile applied (signal HUP")
        try container.folder.write(Self.slatefile, to: "slatefile.json")
        let reload = try container.run(#""$HOSTD" reload --state-dir state"#)
        #expect(reload.exit == .code(0), "\(reload.error)")
        container.send(SIGTERM)
        #expect(try container.ended().exit == .code(0))
    }

    @Test("--watch reloads, and the service manager is notified, its watchdog included")
    func managed() throws {
        let folder = try TemporaryFolder()
        let manager = try NotifyReceiver(at: folder.path("notify"))
        let container = try start(
            ["--watch"], in: folder,
            environment: [
                // The process that the manager knows is process 1.
                "NOTIFY_SOCKET": manager.address, "WATCHDOG_PID": "1", "WATCHDOG_USEC": "100000",
            ])
        while try manager.next() != "READY=1\nSTATUS=active: 3 modules" {}
        while try manager.next() != "WATCHDOG=1" {}
        let changed = Self.slatefile.replacing(
            #""app": "test","#, with: #""app": "test", "deadlines": {"event": "9s"},"#)
        try folder.write(changed, to: "next.json")
        try folder.move("next.json", to: "slatefile.json")
        try container.process.waitForLine(containing: "slatefile applied (host)")
        container.send(SIGTERM)
        while try manager.next() != "STATUS=stopped" {}
        #expect(try container.ended().exit == .code(0))
    }

    @Test("the documented health check asks the host")
    func healthy() throws {
        let container = try start()
        let check = try Container.documentedHealthCheck()
        let outcome = try container.run(check)
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        container.send(SIGTERM)
        #expect(try container.ended().exit == .code(0))
    }

    @Test("processes that a module or a program inside leaves behind are reaped")
    func orphans() throws {
        for arguments in [[], ["--respawn"]] {
            let container = try start(arguments)
            // The one that the module has left, and three of a program such as `docker exec` runs.
            let host = try container.host()
            // Each says that it has left the group of the program, which is killed after its end.
            let left = try container.run(
                """
                exec 250>&-
                for i in 1 2 3; do
                    setsid sh -c ": >left.$i; exec sleep 1000 >&- 2>&- <&-" &
                done
                until [ -e left.1 ] && [ -e left.2 ] && [ -e left.3 ]; do :; done
                """)
            #expect(left.exit == .code(0))
            try container.waitForChildren("the host and four others") { $0.count == 5 }
            for orphan in children(of: container.processID) where orphan != host {
                kill(orphan, SIGKILL)
            }
            try container.waitForChildren("only the host") { $0 == [host] }
            container.send(SIGTERM)
            #expect(try container.ended().exit == .code(0))
        }
    }

    @Test("a host that is killed ends the container with 70, and is named")
    func killed() throws {
        let container = try start()
        kill(try container.host(), SIGKILL)
        let outcome = try container.ended()
        #expect(outcome.exit == .code(70))
        #expect(outcome.error.contains(" was killed by SIGKILL after "))
    }

    @Test("an error of the start ends the container with the code of the error")
    func refused() throws {
        let folder = try TemporaryFolder()
        let container = try Container(in: folder, isReady: false)
        #expect(try container.ended().exit == .code(66))
    }
}

/// The container of docs/running.md, without an engine: its entry point in a PID namespace of its own.
private final class Container {
    /// Whether this machine lets the tests create one.
    static let isPermitted: Bool = {
        guard fileExists("/usr/bin/unshare"), fileExists("/usr/bin/nsenter") else { return false }
        let outcome = try? HostProcess.run(options + ["/bin/true"], program: "/usr/bin/unshare")
        return outcome?.exit == .code(0)
    }()

    private static let options = ["--pid", "--fork", "--mount-proc", "--kill-child"]

    let folder: TemporaryFolder
    let process: HostProcess
    /// The first process of the namespace, by its number outside.
    private(set) var processID: Int32 = 0

    /// Starts it.
    ///
    /// - Parameters:
    ///   - folder: The folder with the slatefile, to which the paths of the page are moved.
    ///   - arguments: More arguments of the entry point.
    ///   - environment: What is set for it.
    ///   - isReady: Whether to wait for READY.
    /// - Throws: Where it cannot be started.
    init(
        in folder: TemporaryFolder, _ arguments: [String] = [],
        environment: [String: String] = [:], isReady: Bool = true
    ) throws {
        self.folder = folder
        let words = try Self.documentedEntryPoint() + arguments
        process = try HostProcess(
            Self.options + [HostProcess.hostd] + words.dropFirst(), program: "/usr/bin/unshare",
            in: folder.path, environment: environment)
        guard isReady else { return }
        try process.waitForLine(containing: "ready pid=", on: .output)
        processID = try #require(children(of: process.processID).first)
    }

    // MARK: The page

    private static func instruction(_ name: String) throws -> Substring {
        let page = try Repository.text(of: "docs/running.md")
        let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return try #require(line, "docs/running.md has no \(name)").dropFirst(name.count + 1)
    }

    private static func moved(_ text: some StringProtocol) -> String {
        String(text).replacing("/etc/hostd/slatefile.json", with: "slatefile.json")
            .replacing("/state", with: "state")
    }

    private static func documentedEntryPoint() throws -> [String] {
        try JSONValue(parsing: String(instruction("ENTRYPOINT"))).elements.map {
            moved(try #require($0.string))
        }
    }

    /// The health check of the page, for ``run(_:)``.
    static func documentedHealthCheck() throws -> String {
        let words = try instruction("HEALTHCHECK")
        let command = try #require(words.firstRange(of: "CMD ")).upperBound
        return moved(words[command...]).replacing("hostd ", with: #""$HOSTD" "#)
    }

    // MARK: What is done to it

    /// Sends a signal to process 1, as the container's engine does.
    func send(_ signal: Int32) { kill(processID, signal) }

    func queue(_ signal: Int32, value: Int32) {
        while sigqueue(processID, signal, sigval(sival_int: value)) != 0 { sched_yield() }
    }

    /// Runs a script inside, as `docker exec` does.
    func run(_ script: String) throws -> HostProcess.Outcome {
        try HostProcess.run(
            ["-t", "\(processID)", "-p", "-m", "/bin/bash", "-c", "cd \(folder.path); \(script)"],
            program: "/usr/bin/nsenter", environment: ["HOSTD": HostProcess.hostd])
    }

    func ended() throws -> HostProcess.Outcome { try process.waitForExit() }

    // MARK: What it does

    /// The host, by its number outside.
    func host() throws -> Int32 {
        let ready = try process.waitForLine(containing: "ready pid=", on: .output)
        let number = ready.dropFirst("ready pid=".count).prefix { $0.isNumber }
        return try #require(
            children(of: processID).first { child in
                let status = (try? readFile(at: "/proc/\(child)/status", limit: 1 << 16)) ?? []
                return String(decoding: status, as: UTF8.self).split(separator: "\n").contains {
                    $0.hasPrefix("NSpid:") && $0.hasSuffix("\t\(number)")
                }
            })
    }

    func journal() throws -> [JSONValue] {
        try folder.text(of: "state/journal.ndjson").split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }

    func waitForJournal(last event: String) throws {
        try wait(for: event) { (try? journal().last?["event"]?.string) == event }
    }

    func waitForChildren(_ what: String, _ matches: ([Int32]) -> Bool) throws {
        try wait(for: what) { matches(children(of: processID)) }
    }

    private func wait(for what: String, _ isThere: () -> Bool) throws {
        let deadline = ContinuousClock.now + HostProcess.patience
        while !isThere() {
            try #require(ContinuousClock.now < deadline, "it never came to this: \(what)")
            sched_yield()
        }
    }
}

/// The children of a process, those included that have ended and were not reaped.
private func children(of process: Int32) -> [Int32] {
    let numbers = ((try? namesInFolder("/proc")) ?? []).compactMap { Int32($0) }
    return numbers.filter { id in
        let status = (try? readFile(at: "/proc/\(id)/stat", limit: 4096)) ?? []
        // 4711 (name) S 1 …
        let fields = status.split(separator: UInt8(ascii: ")")).last?.split(separator: 0x20) ?? []
        return fields.count > 1 && String(decoding: fields[1], as: UTF8.self) == "\(process)"
    }
}
