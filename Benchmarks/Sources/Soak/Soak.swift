import Foundation
import Served

/// One host, from its start to its end.
final class Soak {
    private static let reloadInterval = 5

    private let hostd: String
    private let minutes: Int
    private let rate: Int
    private let folder: URL
    private let slatefiles: Slatefiles
    private var samples: [Sample] = []

    init(_ hostd: String, minutes: Int, rate: Int) throws {
        self.hostd = hostd
        self.minutes = minutes
        self.rate = rate
        folder = try makeFolder(for: "soak")
        slatefiles = Slatefiles(in: folder)
    }

    /// - Returns: Whether all is as it should be.
    func run() throws -> Bool {
        defer { try? FileManager.default.removeItem(at: folder) }
        try slatefiles.use(0)
        let host = try Server(
            hostd,
            [
                "run", "--slatefile", slatefiles.path.path, "--state-dir", folder.path,
                "--log-level", "notice",
            ], log: folder.appending(path: "log"))
        defer { if host.isRunning { host.stop() } }
        let socket = folder.appending(path: "control.sock").path
        let senders = try Senders(count: 8, at: socket)
        let journals = Journals(slatefiles.journals)

        say(
            "\(rate) events a second for \(minutes) min, another slatefile every \(Self.reloadInterval) s"
        )
        say(
            "| minute | events/s accepted | RSS, MB | descriptors | threads | segments | host's cores |"
        )
        say("|---:|---:|---:|---:|---:|---:|---:|")
        let began = nanoseconds()
        for second in 1...minutes * 60 {
            try senders.send(
                until: began + second * 1_000_000_000, total: second * rate, from: began)
            samples.append(
                try Sample(
                    of: host.id, inbox: folder.appending(path: "inbox").path, senders.accepted))
            if second % Self.reloadInterval == 0 {
                // The journal that the host has left for 5 s is complete by now.
                let count = second / Self.reloadInterval
                if count > 1 { try journals.take(count % 2) }
                try slatefiles.use(count)
                kill(host.id, SIGHUP)
            }
            if second % 60 == 0 { printMinute(second / 60) }
        }
        try senders.finish()
        let account = try senders.account()
        host.stop()
        // The one in use was begun last.
        let last = minutes * 60 / Self.reloadInterval
        try journals.take((last + 1) % 2)
        try journals.take(last % 2)
        return verdict(senders, journals, account)
    }

    private func printMinute(_ minute: Int) {
        let part = samples.suffix(60)
        guard let first = part.first, let last = part.last else { return }
        let ticks =
            (last.processorTicks - first.processorTicks) * 100 / (59 * sysconf(Int32(_SC_CLK_TCK)))
        say(
            "| \(minute) | \((last.accepted - first.accepted) / 59) | \(megabytes(part)) "
                + "| \(last.descriptors) | \(last.threads) | \(last.segments) "
                + "| \(ticks / 100).\(ticks % 100 < 10 ? "0" : "")\(ticks % 100) |")
    }

    private func megabytes(_ part: ArraySlice<Sample>) -> String {
        let mean = part.map(\.residentKB).reduce(0, +) / part.count
        return "\(mean / 1024).\(mean % 1024 * 10 / 1024)"
    }

    /// The mean of RSS in each minute, in kilobytes.
    private var residentMeans: [Int] {
        (0..<minutes).map { minute in
            samples[minute * 60..<(minute + 1) * 60].map(\.residentKB).reduce(0, +) / 60
        }
    }

    private func verdict(_ senders: Senders, _ journals: Journals, _ account: InboxAccount) -> Bool
    {
        var diagnostics: [String] = []
        let wanted = minutes * 60 * rate
        if senders.accepted + senders.duplicates < wanted * 99 / 100 {
            diagnostics.append("\(senders.accepted) events of \(wanted) were accepted in time")
        }
        // Where two of one id come close together both are accepted, and the host passes over the second.
        let passedOver = account.duplicates - senders.duplicates
        if journals.pushes + passedOver != senders.accepted || account.rejected != 0 {
            diagnostics.append(
                "\(senders.accepted) accepted, \(journals.pushes) received, \(passedOver) of them passed over, "
                    + "\(account.rejected) rejected")
        }
        if journals.disorders > 0 {
            diagnostics.append("\(journals.disorders) not in order, or twice")
        }
        if let growth = Growth(ofMinutes: residentMeans) {
            say("\(growth)")
            if let problem = growth.problem { diagnostics.append(problem) }
        }
        let descriptors = samples.dropFirst(min(60, samples.count / 2)).map(\.descriptors)
        if let least = descriptors.min(), let most = descriptors.max(), most > least + 2 {
            diagnostics.append("between \(least) and \(most) descriptors were open")
        }
        say(
            "accepted \(senders.accepted), duplicates \(senders.duplicates), received \(journals.pushes); reloads \(minutes * 60 / Self.reloadInterval)"
        )
        say("the host: \(account)")
        say(
            diagnostics.isEmpty
                ? "verdict: flat, nothing lost" : "verdict: \(diagnostics.joined(separator: "; "))")
        return diagnostics.isEmpty
    }
}

/// What the system says of a process.
private struct Sample {
    let accepted: Int
    let residentKB: Int
    let descriptors: Int
    let threads: Int
    let processorTicks: Int
    let segments: Int

    init(of process: Int32, inbox: String, _ accepted: Int) throws {
        self.accepted = accepted
        let memory = try Self.words(of: "/proc/\(process)/statm")
        residentKB = (Int(memory[1]) ?? 0) * Int(getpagesize()) / 1024
        descriptors = try FileManager.default
            .contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        let state = try Self.words(of: "/proc/\(process)/stat", after: ")")
        processorTicks = (Int(state[11]) ?? 0) + (Int(state[12]) ?? 0)
        threads = Int(state[17]) ?? 0
        segments = try FileManager.default.contentsOfDirectory(atPath: inbox)
            .count { $0.hasSuffix(".ndjson") && $0.first?.isNumber == true }
    }

    private static func words(of path: String, after mark: Character? = nil) throws -> [Substring] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let start = mark.flatMap(text.lastIndex(of:)).map(text.index(after:)) ?? text.startIndex
        return text[start...].split(separator: " ")
    }
}

/// Prints a line at once: who looks at a file of it wants to see how far it is.
private func say(_ line: String) {
    print(line)
    fflush(nil)
}
