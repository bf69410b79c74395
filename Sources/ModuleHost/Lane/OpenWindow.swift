/// The events that a module was notified of and answers later, from the oldest that it has not answered on.
///
/// With a window of N the module may be notified of an event while fewer than N stand here, answered ones among them: a death
/// of the host has at most N of them delivered again. Events that a window may not have (``EventKind/isWindowed``) are barriers:
/// the module receives one when it has answered all before it, and alone.
struct OpenWindow {
    /// The largest window.
    static let sizes = 1...256
    /// The bytes of payloads that a module may have to answer at a time, beside one event.
    static let bytes = 4 << 20

    private struct Told {
        enum State: Int {
            /// It is to be answered.
            case out
            case answered
            /// The module wants it again, later: until then it receives nothing.
            case again
            /// The module is to receive it again.
            case due
        }

        let event: LifecycleEvent
        let footprint: Int
        /// Its entry; nil for an event that is not durable, and for one that is a dead letter.
        var entry: InboxEntry?
        var state = State.out
    }

    private var all = Deque<Told>()
    /// The number of those in each state: a window is large, and each event is asked about it.
    private var counts = SIMD4<Int>()
    private var bytes = 0
    /// The time in which the module is to receive nothing, since it wants an event again later: also where that is a dead
    /// letter by now.
    private enum Pause {
        case none, begun
        /// It is over once nothing else is to be answered.
        case ending
    }

    private var pause = Pause.none

    var isEmpty: Bool { all.isEmpty }
    /// The oldest event that the module has to answer.
    var oldest: LifecycleEvent? { index(of: .out).flatMap { all[$0]?.event } }
    /// Whether the module has a step of a stop to answer.
    var hasStepOut: Bool { oldest?.laterAnswers == .processes }
    private var unanswered: [Told] { select { $0.state != .answered } }
    private var hasOut: Bool { count(of: .out) > 0 }
    /// Whether the module is to receive nothing for a time, since it wants an event again later.
    var isPaused: Bool { pause != .none }
    /// Whether the module has nothing to answer meanwhile.
    var isResting: Bool { isPaused && !hasOut }
    /// Whether the module is to be notified again of an event that it wanted later.
    var hasDue: Bool { count(of: .due) > 0 }
    /// The number of events that the module is to receive again.
    var againCount: Int { count(of: .again) + count(of: .due) }
    /// The number of durable events that are not answered.
    var durableCount: Int { unanswered.count { $0.entry != nil } }
    private var firstDurable: Told? {
        for index in 0..<all.count {
            if let told = all[index], told.state != .answered, told.entry != nil { return told }
        }
        return nil
    }
    /// The first durable event that is not answered.
    var first: EventPosition? { firstDurable?.entry?.position }
    /// The first durable event that is not answered, where the module has it.
    var firstOut: EventPosition? {
        firstDurable.flatMap { $0.state == .out ? $0.entry?.position : nil }
    }
    /// The events that are to be answered, in order.
    var events: [LifecycleEvent] { select { $0.state == .out }.map(\.event) }

    private func count(of state: Told.State) -> Int { counts[state.rawValue] }

    /// The first event in a state.
    private func index(of state: Told.State) -> Int? {
        count(of: state) == 0 ? nil : (0..<all.count).first { all[$0]?.state == state }
    }

    private func select(where isMeant: (Told) -> Bool) -> [Told] {
        (0..<all.count).compactMap { all[$0] }.filter(isMeant)
    }

    private func contains(where isMeant: (Told) -> Bool) -> Bool {
        for index in 0..<all.count {
            if let told = all[index], isMeant(told) { return true }
        }
        return false
    }

    func contains(_ entry: InboxEntry) -> Bool {
        contains { $0.state != .answered && $0.entry?.position == entry.position }
    }

    /// Returns whether the module has an event to answer.
    func isOut(_ event: LifecycleEvent) -> Bool {
        contains { $0.state == .out && $0.event.isSame(as: event) }
    }

    /// Returns whether the event at a place in the order of the lane is to be answered.
    func isOut(at sequence: UInt64) -> Bool {
        contains { $0.state == .out && $0.event.sequence == sequence }
    }

    // MARK: Telling

    /// Returns whether the module was notified of an event after all others.
    func isLast(_ event: LifecycleEvent) -> Bool {
        all[all.count - 1]?.event.isSame(as: event) == true
    }

    /// Returns whether the module may be notified of one more event.
    func hasRoom(for kind: EventKind, window: Int) -> Bool {
        guard !isPaused else { return false }
        guard let last = all[all.count - 1] else { return true }
        return all.count < window && bytes < Self.bytes && kind.isWindowed
            && last.event.kind.isWindowed && !hasDue
    }

    /// Returns whether the module is to receive more of what takes a thread to read.
    func isHalfEmpty(window: Int) -> Bool {
        all.count <= window / 2 && hasRoom(for: .message, window: window)
    }

    /// Adds an event that the module is notified of, beside those that it has yet to answer.
    ///
    /// It counts as answered unless the module answers it later (``take(_:window:)``): its thread returns from it.
    mutating func admit(_ event: LifecycleEvent) {
        if !isEmpty { append(event, .answered) }
    }

    /// Removes the event that was admitted last: it does not concern the module.
    mutating func withdraw(_ event: LifecycleEvent) {
        guard isLast(event), all[all.count - 1]?.state == .answered, let told = all.popLast()
        else { return }
        forget(told)
    }

    /// Adds an event that the module answers later.
    ///
    /// - Returns: False where it has others to answer first.
    mutating func take(_ event: LifecycleEvent, window: Int) -> Bool {
        if isLast(event), all[all.count - 1]?.state == .answered {
            set(.out, at: all.count - 1)
            return true
        }
        guard !isOut(event), hasRoom(for: event.kind, window: window) else { return false }
        append(event, .out)
        return true
    }

    private mutating func append(_ event: LifecycleEvent, _ state: Told.State) {
        append(
            Told(event: event, footprint: event.footprint, entry: event.entry, state: state))
    }

    private mutating func append(_ told: Told) {
        all.append(told)
        bytes += told.footprint
        counts[told.state.rawValue] += 1
    }

    private mutating func forget(_ told: Told) {
        bytes -= told.footprint
        counts[told.state.rawValue] -= 1
    }

    private mutating func set(_ state: Told.State, at index: Int) {
        guard let former = all[index]?.state else { return }
        counts[former.rawValue] -= 1
        counts[state.rawValue] += 1
        all[index]?.state = state
    }

    /// Returns the first event that the module is to be notified of again.
    mutating func takeAgain() -> LifecycleEvent? {
        guard !isPaused, let index = index(of: .due), var event = all[index]?.event else {
            return nil
        }
        if let entry = event.entry { event = event.standing(at: entry.repeated) }
        set(.out, at: index)
        return event
    }

    // MARK: Answers

    /// Notes an answer; has no effect for an event that is not to be answered.
    mutating func answer(_ event: LifecycleEvent) {
        set(.answered, of: event)
        trim()
        resumeIfDue()
    }

    /// Notes that the module wants an event again, later.
    ///
    /// - Returns: Whether it was to be answered.
    mutating func retry(_ event: LifecycleEvent) -> Bool {
        guard set(.again, of: event) else { return false }
        pause = .begun
        return true
    }

    /// Lets the module be notified again of what it wanted later, as soon as nothing else is to be answered.
    mutating func resume() {
        if isPaused { pause = .ending }
        resumeIfDue()
    }

    private mutating func resumeIfDue() {
        guard pause == .ending, !hasOut else { return }
        pause = .none
        for index in 0..<all.count where all[index]?.state == .again { set(.due, at: index) }
    }

    @discardableResult
    private mutating func set(_ state: Told.State, of event: LifecycleEvent) -> Bool {
        let place = (0..<all.count).first { index in
            all[index].map { $0.state == .out && $0.event.isSame(as: event) } == true
        }
        guard let place else { return false }
        set(state, at: place)
        return true
    }

    private mutating func trim() {
        while all[0]?.state == .answered, let told = all.popFirst() { forget(told) }
    }

    // MARK: Ends

    /// Removes events that are not answered.
    ///
    /// - Parameter isPaused: Whether those alone that the module is to be notified of again.
    /// - Returns: The entries of the durable ones, and of those behind the first of them that are answered.
    mutating func remove(paused isPaused: Bool) -> (left: [InboxEntry], answered: [InboxEntry]) {
        var (left, answered): ([InboxEntry], [InboxEntry]) = ([], [])
        let former = all.removeAll()
        (bytes, counts, pause) = (0, SIMD4(), .none)
        for told in former {
            switch told.state {
            case .answered: if !left.isEmpty, let entry = told.entry { answered.append(entry) }
            case .out where isPaused: break
            case .out, .again, .due:
                if let entry = told.entry { left.append(entry) }
                continue
            }
            // Behind one that is out those that are answered stand, too.
            guard isPaused, told.state == .out || !isEmpty else { continue }
            append(told)
        }
        return (left, answered)
    }

    /// Makes durable events ones that are not: they are dead letters, and their answers come all the same.
    ///
    /// - Returns: The positions of those that were not answered.
    mutating func drop(where isMeant: (InboxEntry) -> Bool) -> [EventPosition] {
        var dropped: [EventPosition] = []
        for index in 0..<all.count {
            guard let told = all[index], told.state != .answered, let entry = told.entry,
                isMeant(entry)
            else { continue }
            dropped.append(entry.position)
            all[index]?.entry = nil
            // The module does not receive it again.
            if told.state != .out { set(.answered, at: index) }
        }
        trim()
        return dropped
    }
}

extension LifecycleEvent {
    /// Returns whether this is the same event, received before or read from the inbox again.
    func isSame(as other: LifecycleEvent) -> Bool {
        if let position { return position == other.position }
        return other.position == nil && sequence == other.sequence
    }
}

extension EventKind {
    /// Whether a module may be notified of an event of this kind before it has answered another: those with a payload that no module
    /// claims, and that do not state anything about the app.
    var isWindowed: Bool { isDurable && !isClaimed && stateChange == nil && !isHostsOwn }
}
