import Dispatch
import Glibc
import ModuleHost

/// A command of its own that runs the host of this process.
enum Way: String, CaseIterable {
    /// With a parent that starts it again; each process prints its signal mask first.
    case respawn
    /// On another thread than the main one.
    case detached
    /// After another thread was made that blocks no signal.
    case late
    /// After another thread was made that blocks every signal.
    case sheltered

    static let commands = allCases.map { way in
        HostCommand(name: way.rawValue, summary: way.summary) { words in
            words.isEmpty ? way.run() : .usage
        }
    }

    private var summary: String {
        switch self {
        case .respawn: "run the host as a child, which restarts it"
        case .detached: "run the host on another thread"
        case .late: "run the host beside a thread that blocks no signal"
        case .sheltered: "run the host beside a thread that blocks every signal"
        }
    }

    private func run() -> ExitCode {
        var options = HostDaemonOptions()
        switch self {
        case .respawn:
            print(signalMasks())
            fflush(nil)
            options.respawns = true
        case .detached: return runDetached(options)
        case .late: startThread()
        case .sheltered:
            let before = Signals.blockExactly(.all)
            startThread()
            Signals.blockExactly(before)
        }
        return HostDaemon.run(options)
    }

    private func runDetached(_ options: HostDaemonOptions) -> ExitCode {
        do {
            try NativeThread.start(name: "runner") { exit(HostDaemon.run(options).rawValue) }
        } catch {
            return .failed
        }
        while true { pause() }
    }

    /// Starts a thread with a name that a terminal would obey, and waits until it has that.
    private func startThread() {
        let named = DispatchSemaphore(value: 0)
        do {
            try NativeThread.start(name: "wor\u{1B}ker") {
                named.signal()
                while true { pause() }
            }
            named.wait()
        } catch {
            exit(ExitCode.failed.rawValue)
        }
    }
}

/// Which signals are blocked, ignored and caught, as `/proc/self/status` says it: `SigBlk: 0… SigIgn: …`.
func signalMasks() -> String {
    let status = (try? readFile(at: "/proc/self/status", limit: 1 << 16)) ?? []
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n").filter { line in
        ["SigBlk:", "SigIgn:", "SigCgt:"].contains { line.hasPrefix($0) }
    }
    return lines.joined(separator: " ").split(separator: "\t").joined(separator: " ")
}
