import Foundation

/// What all modules that sinned were to receive, and have received.
struct SinnersAccount {
    private(set) var owed = 0
    private(set) var received = 0
    /// Ticks that came before an earlier one that they had not followed yet.
    private(set) var disorders = 0
    /// Ticks that came twice: the module died with them in hand.
    private(set) var again = 0
    /// How many of those were not marked as such.
    private(set) var unmarked = 0
    /// All processes there were.
    var processes: Set<pid_t> = []

    /// Takes what the modules of one round have written down.
    ///
    /// They came and went in the same instants, each between two events: so all were to receive the same.
    mutating func take(
        _ round: [(sinner: Sinner, journal: Journal)], _ diagnostics: inout [String]
    ) throws {
        let all = round.map { Set($0.journal.ticks) }
        guard let first = all.compactMap({ $0.min() }).min(),
            let last = all.compactMap({ $0.max() }).max()
        else { return diagnostics.append("no module received anything in a round") }
        for (sinner, journal) in round {
            let ticks = journal.ticks
            let distinct = Set(ticks)
            owed += last - first + 1
            received += distinct.count
            again += ticks.count - distinct.count
            unmarked += journal.unmarked
            // One that it had in hand when it died comes again right away.
            disorders += zip(ticks, ticks.dropFirst()).count { $1 < $0 }
            if distinct.count != last - first + 1 {
                let missing = (first...last).filter { !distinct.contains($0) }
                diagnostics.append(
                    "\(sinner.entry.id) missed \(missing.count) of \(first)…\(last): "
                        + "\(missing.prefix(5))")
            }
            processes.formUnion(journal.processes)
        }
    }
}
