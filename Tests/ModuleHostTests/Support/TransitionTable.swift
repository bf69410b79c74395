import Testing

/// A row of the table of a transition function.
struct TransitionRow<
    State: Equatable & Sendable, Change: Equatable & Sendable, Effect: Equatable & Sendable
>: Sendable {
    let from: State
    let change: Change
    let to: State
    let effects: [Effect]

    init(_ from: State, _ change: Change, _ to: State, _ effects: [Effect] = []) {
        (self.from, self.change, self.to, self.effects) = (from, change, to, effects)
    }
}

/// Expects that each change does in each state what the table says, and otherwise nothing.
///
/// - Parameters:
///   - table: The rows; a change that is in none of a state's means nothing there.
///   - states: All states.
///   - changes: All changes.
///   - apply: The transition function.
func expectTable<State, Change, Effect>(
    _ table: [TransitionRow<State, Change, Effect>], of states: [State], _ changes: [Change],
    _ apply: (inout State, Change) -> [Effect]
) {
    for state in states {
        for change in changes {
            let row = table.first { $0.from == state && $0.change == change }
            var next = state
            let effects = apply(&next, change)
            #expect(next == row?.to ?? state, "\(state), \(change)")
            #expect(effects == row?.effects ?? [], "\(state), \(change)")
        }
    }
}
