import AppService

/// The last launches of the hosts on a state directory: the file `launches.ndjson`, one object a line, the newest last.
package struct LaunchHistory: Sendable {
    /// The number of launches that are kept.
    static let kept = 3
    /// The bytes of the file that are read; a launch has at most 2,000 steps.
    private static let limit = 4 << 20

    private let path: String

    package init(in directory: StateDirectory) { path = directory.path(of: "launches.ndjson") }

    /// The launches, as `hostd startup --json` prints one, the newest last.
    ///
    /// - Throws: The error of the file; a missing one has none. A line that cannot be read is left out.
    package func launches() throws(FileReadError) -> [JSONValue] {
        do throws(FileReadError) {
            return try readFile(at: path, limit: Self.limit, links: .refused)
                .split(separator: UInt8(ascii: "\n")).compactMap { line in
                    try? JSONValue(parsing: Array(line))
                }
        } catch {
            if error.reason == .missing { return [] }
            throw error
        }
    }

    /// Adds a launch, in place of an earlier report on it, and forgets the oldest ones; the file is replaced atomically.
    ///
    /// Lines that cannot be read are lost.
    func add(_ report: LaunchReport) throws(FileError) {
        let start = report.hostStarted?.iso8601
        let former = ((try? launches()) ?? []).filter { $0["startedAt"]?.string != start }
            .suffix(Self.kept - 1)
        var json = JSONWriter()
        for launch in former {
            json.value(launch)
            json.newline()
        }
        report.write(to: &json)
        json.newline()
        try writeFile(json.bytes, to: path, mode: 0o600)
    }
}

extension AppHost {
    /// Keeps the report on the launch for `hostd startup --launch`: at READY, and at the end, when more tasks have ended.
    ///
    /// - Parameter waits: Whether to wait until it is written; else a worker thread does that.
    func keepLaunch(waits: Bool = false) {
        let work: @Sendable () -> Void = { [self] in
            launchTimes.isKept.withLock { isKept in
                if isKept { return }
                isKept = waits
                do throws(FileError) {
                    let history = LaunchHistory(in: StateDirectory(path: stateDirectory))
                    try history.add(launchTimes.atStop.withLock { $0 } ?? launchReport)
                } catch {
                    log.warning("the report on this launch is not kept: \(error)")
                }
            }
        }
        if waits { work() } else { workers.run(work) }
    }
}
