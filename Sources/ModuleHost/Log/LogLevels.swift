import AppService
import Synchronization

/// The least levels that the log of a host writes: one of the host, and those of modules with a level of their own.
///
/// Followers (`hostd tail`) may want lines below these: they are made, and the log leaves them out.
///
/// A level that was chosen while the host runs comes first, then the one of the start, then that of the slatefile. All
/// logs of a host share one value.
///
/// - Thread: Any.
package final class LogLevels: Sendable {
    /// The level of the host or of a module.
    package struct Setting: Hashable, Sendable {
        /// The level in effect.
        package var level: LogLevel
        /// The level without the one that was chosen while the host runs; nil for a module that then has that of the host.
        package var standard: LogLevel?
    }

    private struct State {
        /// The level of the start, which precedes that of the slatefile.
        let start: LogLevel?
        /// The levels of the slatefile.
        var slatefile: (host: LogLevel, modules: [String: LogLevel]) = (.info, [:])
        /// The levels that were chosen while the host runs.
        var chosen: (host: LogLevel?, modules: [String: LogLevel]) = (nil, [:])
        /// The least level that a follower wants; nil without followers.
        var followed: LogLevel?

        var standard: LogLevel { start ?? slatefile.host }
        var host: LogLevel { chosen.host ?? standard }

        func level(of module: String) -> LogLevel {
            chosen.modules[module] ?? slatefile.modules[module] ?? host
        }
    }

    /// The part of the state that decides for most lines, as one word.
    private struct Summary {
        /// The rank of the least level of all that the log writes.
        var least: Int
        /// The rank of the level of the host.
        var host: Int
        /// The rank of the highest level of all that the log writes.
        var most: Int
        /// The rank of the least level that a follower wants; above all without followers.
        var followed: Int

        init(_ state: State) {
            host = state.host.rank
            // Those that are chosen hide others: at worst a line looks into the table in vain.
            let modules = [state.slatefile.modules, state.chosen.modules].flatMap(\.values)
            least = modules.reduce(host) { min($0, $1.rank) }
            most = modules.reduce(host) { max($0, $1.rank) }
            followed = state.followed?.rank ?? 7
        }

        init(word: UInt16) {
            (least, host, most) = (Int(word & 7), Int(word >> 3 & 7), Int(word >> 6 & 7))
            followed = Int(word >> 9)
        }

        var word: UInt16 { UInt16(least | host << 3 | most << 6 | followed << 9) }
    }

    private let state: Guarded<State>
    /// The summary of the state; changed with its lock.
    private let summary: Atomic<UInt16>

    /// Creates the levels of a host.
    ///
    /// - Parameter start: The level of the start, which precedes that of the slatefile; nil for none.
    package init(start: LogLevel?) {
        let state = State(start: start)
        summary = Atomic(Summary(state).word)
        self.state = Guarded(state)
    }

    /// Returns whether a line is made, for the log or a follower: after one load for a line below all levels, or at
    /// least at the highest.
    ///
    /// - Parameters:
    ///   - level: The level of the line.
    ///   - module: The id of the module that it is about; nil for the host.
    func isEnabled(_ level: LogLevel, for module: String?) -> Bool {
        let summary = Summary(word: summary.load(ordering: .relaxed))
        return level.rank >= summary.followed || isWritten(level, for: module, summary)
    }

    /// Returns whether the log writes a line.
    ///
    /// - Parameters:
    ///   - level: The level of the line.
    ///   - module: The id of the module that it is about; nil for the host.
    package func isWritten(_ level: LogLevel, for module: String?) -> Bool {
        isWritten(level, for: module, Summary(word: summary.load(ordering: .relaxed)))
    }

    @inline(__always)
    private func isWritten(
        _ level: LogLevel, for module: String?, _ summary: Summary
    ) -> Bool {
        guard level.rank >= summary.least else { return false }
        if level.rank >= summary.most { return true }
        guard let module else { return level.rank >= summary.host }
        return state.withLock { level >= $0.level(of: module) }
    }

    /// The level of the host.
    package var host: Setting {
        state.withLock { Setting(level: $0.host, standard: $0.standard) }
    }

    /// The modules that have a level of their own, by id.
    package var modules: [String: Setting] {
        state.withLock { state in
            let own = state.slatefile.modules.merging(state.chosen.modules) { $1 }
            return Dictionary(
                uniqueKeysWithValues: own.map {
                    ($0.key, Setting(level: $0.value, standard: state.slatefile.modules[$0.key]))
                })
        }
    }

    /// Chooses a level, until the host ends or its slatefile changes that level.
    ///
    /// - Parameters:
    ///   - level: The level; nil for that of the start or the slatefile.
    ///   - module: The id of a module of the slatefile; nil for the host.
    package func choose(_ level: LogLevel?, for module: String?) {
        change { state in
            if let module {
                state.chosen.modules[module] = level
            } else {
                state.chosen.host = level
            }
        }
    }

    /// Takes the levels of a slatefile.
    ///
    /// They replace those chosen levels for which the former slatefile had another one.
    ///
    /// - Parameters:
    ///   - host: The level of the host.
    ///   - modules: The levels of modules, by id.
    ///   - removed: The modules that the former slatefile had and this one has not.
    package func take(
        host: LogLevel, modules: [String: LogLevel], removed: some Sequence<String> = []
    ) {
        change { state in
            let former = state.slatefile
            if host != former.host { state.chosen.host = nil }
            state.chosen.modules = state.chosen.modules.filter {
                modules[$0.key] == former.modules[$0.key]
            }
            for id in removed { state.chosen.modules[id] = nil }
            state.slatefile = (host, modules)
        }
    }

    /// Has lines made for followers, too.
    ///
    /// - Parameter level: The least level that one of them wants; nil without followers.
    package func follow(_ level: LogLevel?) { change { $0.followed = level } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            summary.store(Summary(state).word, ordering: .relaxed)
        }
    }
}
