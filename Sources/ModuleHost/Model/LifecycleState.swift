/// The state of an app between its start and its end.
///
/// ```
/// launching → inactive → active ⇄ inactive ⇄ background → terminating → terminated
/// ```
///
/// ``apply(_:)`` is the only transition function. It changes the state and returns the events that modules
/// are to receive, but delivers none, so it can be tested as a table.
@nonexhaustive public enum LifecycleState: String, Hashable, Sendable, CaseIterable {
    /// Modules are created and launched, in slatefile order. Moves to `inactive` or `terminating`.
    case launching
    /// Every module has launched; the app does not have the user's attention. Moves to `active`, `background`
    /// or `terminating`.
    case inactive
    /// The app has the user's attention. Moves to `inactive`, `background` or `terminating`.
    case active
    /// The app is not visible. Moves to `active` (through `inactive`) or `terminating`.
    case background
    /// Modules receive the shutdown events. Moves to `terminated`.
    case terminating
    /// The app has ended.
    case terminated

    /// The state as the end of a sentence about the app, such as `in the background`.
    package var inWords: String { self == .background ? "in the background" : rawValue }

    /// A change that can be requested in a state.
    enum Change: Hashable, CaseIterable, Sendable {
        /// Every module has received `launch`.
        case launched
        case activate, resignActive, background, foreground, terminate
        /// Every module has received the shutdown events and was released.
        case ended
    }

    /// The events that a change causes, in order, or the result that the change has no meaning.
    enum Effect: Hashable {
        case deliver([EventKind])
        /// The change has no meaning in this state; it is counted and reported, and is not an error.
        case ignore
    }

    /// Moves to the state that follows `change`.
    ///
    /// - Returns: The events that modules are to receive; ``Effect/ignore`` leaves the state unchanged.
    mutating func apply(_ change: Change) -> Effect {
        switch (self, change) {
        case (.launching, .launched): return move(to: .inactive, [])
        // A stop in the middle of a launch: only modules that received `launch` receive `terminate`.
        case (.launching, .terminate): return move(to: .terminating, [.terminate])

        case (.inactive, .activate): return move(to: .active, [.activate])
        case (.inactive, .background): return move(to: .background, [.background])
        case (.inactive, .terminate): return move(to: .terminating, [.background, .terminate])

        case (.active, .resignActive): return move(to: .inactive, [.resignActive])
        case (.active, .background):
            return move(to: .background, [.resignActive, .background])
        case (.active, .terminate):
            return move(to: .terminating, [.resignActive, .background, .terminate])

        case (.background, .foreground): return move(to: .active, [.foreground, .activate])
        case (.background, .terminate): return move(to: .terminating, [.terminate])

        case (.terminating, .ended): return move(to: .terminated, [])

        // A second TERM during a stop, and a launch that completes after the stop was requested.
        case (.terminating, .terminate), (.terminating, .launched), (.terminated, .terminate):
            return .ignore

        // The change has happened already, or is not possible from here. Spelled out, with no `default`: a
        // new state or change must be placed by hand.
        case (.launching, .activate), (.launching, .resignActive), (.launching, .background),
            (.launching, .foreground), (.launching, .ended),
            (.inactive, .launched), (.inactive, .resignActive), (.inactive, .foreground),
            (.inactive, .ended),
            (.active, .launched), (.active, .activate), (.active, .foreground), (.active, .ended),
            (.background, .launched), (.background, .activate), (.background, .resignActive),
            (.background, .background), (.background, .ended),
            (.terminating, .activate), (.terminating, .resignActive),
            (.terminating, .background), (.terminating, .foreground),
            (.terminated, .launched), (.terminated, .activate), (.terminated, .resignActive),
            (.terminated, .background), (.terminated, .foreground), (.terminated, .ended):
            return .ignore
        }
    }

    /// Returns the events that lead a module from this state of the app to another one.
    ///
    /// The only source of what one module receives alone: what it has missed, or its shutdown events.
    func path(to next: Self) -> [EventKind] {
        for change in Change.allCases where next != self {
            var state = self
            guard case .deliver(let events) = state.apply(change) else { continue }
            // Between these two modules receive nothing.
            if state == next || state == .terminating && next == .terminated { return events }
        }
        return []
    }

    /// Whether modules may receive events that do not change the state, such as `push`.
    var acceptsEvents: Bool {
        switch self {
        case .inactive, .active, .background: true
        case .launching, .terminating, .terminated: false
        }
    }

    private mutating func move(to next: Self, _ events: [EventKind]) -> Effect {
        self = next
        return .deliver(events)
    }
}
