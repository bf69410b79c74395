import AppService

/// The mark of the processes of a host's modules, and of all processes that these start, by which the next
/// host finds them.
///
/// It is a variable, since a process always inherits that: its parent, its group, its session and its input
/// may change. Its value, such as `2049:1234567:com.example.weather`, is the identity of the file by which
/// the host has claimed its state directory, and the module. Only the host that has claimed that file has
/// that identity; a host that claims it later knows thereby that the processes belong to a dead one. A path
/// would not be unique: two containers have different folders of one name.
struct ProcessMark: Hashable, Sendable {
    static let variable = "MODULEHOST_OWNER"

    private let host: String

    init(_ claim: PidFile) { host = claim.identity }

    /// Returns the value for the processes of a module.
    func text(for module: ModuleID?) -> String { "\(host):\(module?.text ?? "")" }

    /// The host whose modules have started the processes.
    enum Owner: String {
        /// The last one on the state directory, which did not end in good order.
        case lastHost = "the last host"
        /// This one, which ends.
        case thisHost = "this host"
    }

    /// Kills the remaining processes of a host, and logs them.
    ///
    /// Those of the last host before this one has any of its own. Waits until they have ended.
    ///
    /// - Parameter time: The longest wait.
    func endProcesses(of owner: Owner, within time: Duration = .seconds(2), log: Log) {
        let deadline = ContinuousClock.now + time
        var found: [MarkedProcess] = []
        do throws(FileError) {
            while true {
                // Repeatedly, until there is none: a process that was just killed may have started another.
                let left = try MarkedProcess.all(with: Self.variable, beginning: "\(host):")
                if left.isEmpty { break }
                for process in left { process.kill(with: Self.variable) }
                found += left.filter { !found.contains($0) }
                guard ContinuousClock.now < deadline else {
                    log.error(
                        """
                        processes that modules of \(owner.rawValue) have left do not end, though killed \
                        \(time.briefText) ago, and may still run beside those of \
                        \(owner == .lastHost ? "this host" : "the next one"): \(words(left))
                        """)
                    return
                }
                _ = Signals.wait(for: SignalSet(), until: .now + .milliseconds(2))
            }
        } catch {
            log.warning(
                "processes that modules of \(owner.rawValue) may have left are not looked for: \(error)"
            )
        }
        if !found.isEmpty {
            log.warning(
                "killed processes that modules of \(owner.rawValue) had left: \(words(found))")
        }
    }

    private func words(_ processes: [MarkedProcess]) -> String {
        processes.sortedByNumber { Int($0.id) }.map { process in
            let module = process.mark.dropFirst(host.count + 1)
            return "'\(process.name)' (process \(process.id)"
                + (module.isEmpty ? ")" : ", of \(module))")
        }.shortList()
    }
}
