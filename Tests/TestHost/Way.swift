import Glibc
import ModuleHost

/// How the host of this process is run.
enum Way: String, CaseIterable {
    /// As a host is to be run: on the main thread, before any other exists.
    case plain
    /// With a parent that starts it again; each process prints its signal mask first.
    case respawn

    static let usage = "usage: TestHost [\(allCases.map(\.rawValue).joined(separator: "|"))]\n"

    /// - Parameter words: The arguments.
    init?(_ words: some Collection<String>) {
        guard words.count <= 1, let way = Way(rawValue: words.first ?? "plain") else { return nil }
        self = way
    }

    func run() -> ExitCode {
        var options = HostDaemonOptions()
        if self == .respawn {
            print(signalMasks())
            fflush(nil)
            options.respawns = true
        }
        return HostDaemon.run(options)
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
