import Testing

@testable import ModuleHostCore

@Suite("LifecycleState")
struct LifecycleStateTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let from: LifecycleState
        let change: LifecycleState.Change
        let to: LifecycleState
        let events: [EventKind]
        var testDescription: String {
            "\(from) + \(change) → \(to), \(events.map(\.rawValue).joined(separator: " "))"
        }
    }

    /// The whole specification: a pair that is no row here means nothing.
    static let table: [Row] = [
        Row(from: .launching, change: .launched, to: .inactive, events: []),
        Row(from: .launching, change: .terminate, to: .terminating, events: [.terminate]),
        Row(from: .inactive, change: .activate, to: .active, events: [.activate]),
        Row(from: .inactive, change: .background, to: .background, events: [.background]),
        Row(
            from: .inactive, change: .terminate, to: .terminating,
            events: [.background, .terminate]),
        Row(from: .active, change: .resignActive, to: .inactive, events: [.resignActive]),
        Row(
            from: .active, change: .background, to: .background,
            events: [.resignActive, .background]),
        Row(
            from: .active, change: .terminate, to: .terminating,
            events: [.resignActive, .background, .terminate]),
        Row(
            from: .background, change: .foreground, to: .active, events: [.foreground, .activate]),
        Row(from: .background, change: .terminate, to: .terminating, events: [.terminate]),
        Row(from: .terminating, change: .ended, to: .terminated, events: []),
    ]

    static let meaningless = LifecycleState.allCases.flatMap { state in
        LifecycleState.Change.allCases.map { (state, $0) }
    }.filter { pair in !table.contains { ($0.from, $0.change) == pair } }

    @Test("moves as the table says", arguments: table)
    func move(row: Row) {
        var state = row.from
        #expect(state.apply(row.change) == .deliver(row.events))
        #expect(state == row.to)
    }

    @Test("ignores every other pair and stays put", arguments: meaningless)
    func ignore(from: LifecycleState, change: LifecycleState.Change) {
        var state = from
        #expect(state.apply(change) == .ignore)
        #expect(state == from)
    }

    @Test("receives other events between launch and the end")
    func acceptsEvents() {
        #expect(
            LifecycleState.allCases.filter(\.acceptsEvents) == [.inactive, .active, .background])
    }

    @Test("each state event asks for one change, and nothing else does")
    func stateChanges() {
        let changes = EventKind.allCases.compactMap { kind in
            kind.stateChange.map { "\(kind.rawValue) \($0)" }
        }
        #expect(
            changes == [
                "activate activate", "resign-active resignActive", "background background",
                "foreground foreground", "terminate terminate",
            ])
        for kind in EventKind.allCases where kind.stateChange != nil {
            #expect(kind.payloadType == nil)
        }
    }
}
