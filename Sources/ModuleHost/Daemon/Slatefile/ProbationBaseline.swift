/// The state of the modules before a slatefile was applied, with which the time since then is compared.
struct ProbationBaseline: Hashable, Sendable {
    /// A kind of problem of one module.
    private struct Problem: Hashable {
        enum Kind { case failed, restarted, unresponsive }

        let module: ModuleID
        let kind: Kind
    }

    /// The most reasons that are given in words.
    private static let reasonLimit = 5

    /// The time from which on entries of the record count.
    let start: WallTime
    /// The modules that had failed: nothing of theirs is worse.
    private let failed: Set<ModuleID>
    /// The modules of the slatefile: one that leaves may take long to end.
    private let modules: Set<ModuleID>
    /// The number of times that each problem occurred in the time before, which is as long as the probation.
    private let before: [Problem: Int]

    /// - Parameters:
    ///   - start: The time at which the slatefile is applied.
    ///   - entries: The entries of the record in the time before, as long as the probation.
    ///   - failed: The modules that have failed.
    ///   - modules: The modules of the slatefile.
    init(
        at start: WallTime, after entries: [HostRecord], failed: some Sequence<ModuleID>,
        modules: some Sequence<ModuleID>
    ) {
        self.start = start
        self.failed = Set(failed)
        self.modules = Set(modules)
        before = Self.problems(in: entries).reduce(into: [:]) { $0[$1.problem, default: 0] += 1 }
    }

    /// Returns what is worse, in words: a module that failed; a module whose process ended, or that was unresponsive, more
    /// often than in the time before.
    ///
    /// - Parameter entries: The entries of the record since ``start``, in their order.
    func worse(in entries: [HostRecord]) -> [String] {
        var counts: [Problem: Int] = [:]
        var reasons: [String] = []
        var named: Set<ModuleID> = []
        for (problem, text) in Self.problems(in: entries)
        where modules.contains(problem.module) && !failed.contains(problem.module) {
            counts[problem, default: 0] += 1
            // A module that failed, and was restarted by hand, runs: another failure is worse.
            let allowed = problem.kind == .failed ? 0 : before[problem] ?? 0
            // The first of a module: others follow from it, as an unresponsive module from the end of its process.
            guard counts[problem] == allowed + 1, named.insert(problem.module).inserted else {
                continue
            }
            let often =
                allowed == 0
                ? "" : ", more often than before (\(times(allowed)) in a time as long)"
            reasons.append("module '\(problem.module)' \(text)\(often)")
        }
        let rest = reasons.count - Self.reasonLimit
        return rest > 0 ? reasons.prefix(Self.reasonLimit) + ["\(rest) more"] : reasons
    }

    /// Returns the problems among entries of the record, each in words that follow the name of its module.
    private static func problems(in entries: [HostRecord]) -> [(problem: Problem, text: String)] {
        var ends: [ModuleID: String] = [:]
        return entries.compactMap { entry in
            guard let module = entry.module else { return nil }
            switch entry.fact {
            case .failed: return (Problem(module: module, kind: .failed), entry.text)
            case .unresponsive:
                return (Problem(module: module, kind: .unresponsive), "was \(entry.text)")
            case .processEnded(let text): ends[module] = text
            // Not the end itself: that of a program which has done its work is none. Nor another attempt with a module
            // that has failed.
            case .restarting:
                guard let end = ends.removeValue(forKey: module) else { return nil }
                return (Problem(module: module, kind: .restarted), "was restarted: \(end)")
            default: break
            }
            return nil
        }
    }

    /// Returns whether an entry of the record counts, or has the reason for another.
    static func isMeant(_ entry: HostRecord) -> Bool {
        switch entry.fact {
        case .failed, .unresponsive, .processEnded, .restarting: true
        default: false
        }
    }
}
