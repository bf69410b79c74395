import AppService

/// The probation of a slatefile that was applied: the slatefile is in effect, and its file is yet to be written.
///
/// ```
/// none → starting → watching → none
/// ```
///
/// ``apply(_:)`` is the only transition function: it changes the phase and returns the effects that the reloader has to
/// carry out, but carries out none, so it can be tested as a table.
enum Probation: Hashable {
    /// No slatefile is on probation.
    case none
    /// A slatefile was accepted for a probation of this length, and is yet to take effect.
    case starting(Duration)
    /// The slatefile is in effect, and is kept from this instant on.
    case watching(until: ContinuousClock.Instant)

    /// The time between two looks at what has happened to modules.
    static let interval: Duration = .seconds(1)
    /// The possible lengths; zero for a slatefile that is kept as soon as it is in effect.
    static let lengths: ClosedRange<Duration> = .zero ... .seconds(3600)
    static let standardLength: Duration = .seconds(60)

    /// A change that can happen in a phase.
    enum Change: Hashable {
        /// A slatefile is to be applied.
        case request(Duration)
        /// The slatefile has taken effect.
        case tookEffect(at: ContinuousClock.Instant)
        /// The app runs already as the slatefile says.
        case changedNothing
        /// The slatefile is invalid, or a module could not be created or launched.
        case refused
        /// The record was read; with what is worse than before the slatefile took effect.
        case looked(at: ContinuousClock.Instant, worse: [String])
        /// Another reload has taken effect; its origin.
        case superseded(by: String)
        case stopped
    }

    /// An action that the reloader has to carry out after a change.
    enum Effect: Hashable {
        /// Check the slatefile and reload.
        case begin
        /// Respond that another slatefile is on probation.
        case refuse
        case look(after: Duration)
        /// Write the slatefile's file.
        case keep
        case rollBack([String])
        case respondSuperseded(by: String)
        case respondStopped
    }

    /// Moves to the phase that follows a change.
    ///
    /// - Returns: The effects to carry out, in order. Empty where the change has no meaning in this phase, which stays
    ///   unchanged.
    mutating func apply(_ change: Change) -> [Effect] {
        switch (self, change) {
        case (.none, .request(let length)): return move(to: .starting(length), [.begin])
        case (.starting, .request), (.watching, .request): return [.refuse]

        case (.starting(.zero), .tookEffect), (.starting, .changedNothing):
            return move(to: .none, [.keep])
        case (.starting(let length), .tookEffect(let now)):
            return move(
                to: .watching(until: now + length), [.look(after: min(length, Self.interval))])
        case (.starting, .refused): return move(to: .none, [])

        case (.watching, .looked(_, let worse)) where !worse.isEmpty:
            return move(to: .none, [.rollBack(worse)])
        case (.watching(let end), .looked(let now, _)) where now >= end:
            return move(to: .none, [.keep])
        case (.watching(let end), .looked(let now, _)):
            return [.look(after: min(end - now, Self.interval))]
        case (.watching, .superseded(let origin)):
            return move(to: .none, [.respondSuperseded(by: origin)])
        case (.watching, .stopped): return move(to: .none, [.respondStopped])

        // A reload that ended before the slatefile's turn; a stop meanwhile, which ends its reload; a look for a
        // probation that is over. Spelled out, with no `default`: a new phase must be placed by hand.
        case (.none, _), (.starting, _), (.watching, _): return []
        }
    }

    private mutating func move(to next: Self, _ effects: [Effect]) -> [Effect] {
        self = next
        return effects
    }
}
