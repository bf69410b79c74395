import AppService

/// The mark of the processes of a host's modules, and of all that these start, by which the next host finds them.
///
/// It is a variable, since that is what a process inherits whatever it does: its parent, its group, its
/// session and its input may be others by then. Its value, such as `2049:1234567:com.example.weather`, is
/// the identity of the file by which the host has claimed its state directory, and the module. Only the host
/// that holds that file has that identity; who holds it after the host knows thereby that the processes
/// are a dead one's. A path would not do: two containers have different folders of one name.
struct ProcessMark: Hashable, Sendable {
    static let variable = "MODULEHOST_OWNER"

    private let host: String

    init(_ claim: PidFile) { host = claim.identity }

    /// The value for the processes of a module.
    func text(for module: ModuleID?) -> String { "\(host):\(module?.text ?? "")" }

    /// Kills the processes that were the last host's, and says which those were.
    ///
    /// Before the host has any of its own. Waits until they are gone.
    ///
    /// - Parameters:
    ///   - time: How long to wait at most.
    ///   - log: Where to say it.
    func endLeftProcesses(within time: Duration = .seconds(2), log: Log) {
        let deadline = ContinuousClock.now + time
        var found: [MarkedProcess] = []
        do throws(FileError) {
            while true {
                // Again and again, until there is none: what has just been killed may have started another.
                let left = try MarkedProcess.all(with: Self.variable, beginning: "\(host):")
                if left.isEmpty { break }
                for process in left { process.kill(with: Self.variable) }
                found += left.filter { !found.contains($0) }
                guard ContinuousClock.now < deadline else {
                    log.error(
                        """
                        processes that modules of the last host have left do not end, though killed \
                        \(time.briefText) ago, and may be at work beside those of this one: \
                        \(words(left))
                        """)
                    return
                }
                _ = Signals.wait(for: SignalSet(), until: .now + .milliseconds(2))
            }
        } catch {
            log.warning("what modules of the last host may have left is not looked for: \(error)")
        }
        if !found.isEmpty {
            log.warning("killed, as modules of the last host have left them: \(words(found))")
        }
    }

    private func words(_ processes: [MarkedProcess]) -> String {
        let shown = processes.sorted { $0.id < $1.id }.prefix(10).map { process in
            let module = process.mark.dropFirst(host.count + 1)
            return "'\(process.name)' (process \(process.id)"
                + (module.isEmpty ? ")" : ", of \(module))")
        }
        let others = processes.count - shown.count
        return shown.joined(separator: ", ") + (others > 0 ? ", and \(others) more" : "")
    }
}
