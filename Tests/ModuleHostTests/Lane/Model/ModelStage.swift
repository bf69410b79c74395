import AppService
import Dispatch
import Synchronization
import TestSupport

@testable import ModuleHostCore

/// What the modules of a trial and its driver share: doors, and the number of the next moment.
///
/// Modules keep what they did to themselves until they go, and number it with relaxed atomics, so that the
/// stage brings no order between threads that the lane should have brought: else the thread
/// sanitizer would not see its absence.
final class ModelStage: Sendable {
    /// A thread that stands before a door.
    struct Stand: Sendable {
        let door: Int
        /// The ownership word that it has; nil where it does not stand on the lane.
        let word: Ownership?
        /// The moment at which its module was entered.
        let entered: Int
    }

    private struct State {
        var doors: [Int: ModelDoor] = [:]
        var areAllOpen = false
        var stands: [Int: Stand] = [:]
        /// How often a thread came to a door that was closed.
        var arrivals = 0
        /// How often the log said that a module has caught up.
        var rejoinings = 0
        var moments: [Moment] = []
        var diagnostics: [String] = []
        var overdue: Set<Int> = []
        var marker = 0
        var end: AppHost.End?
        var gone = 0
    }

    /// The asynchronous calls that wait to be woken, and those that were woken before.
    private struct Sleepers {
        var isOver = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var woken: [Int: Int] = [:]
    }

    let events: [Int: Schedule.Event]
    private let sleepers = Guarded(Sleepers())
    /// Signalled whenever the driver may want to look again.
    let news = DispatchSemaphore(value: 0)
    private let clock = Atomic(0)
    private let state = Guarded(State())
    private let lane = Guarded<Lane?>(nil)

    /// The stage of the trial that a worker is at, for its modules to find.
    private static let current = Guarded<[Int: ModelStage]>([:])

    init(_ schedule: Schedule, worker: Int) {
        events = schedule.events
        Self.current.withLock { $0[worker] = self }
    }

    static func of(worker: Int) -> ModelStage? { current.withLock { $0[worker] } }

    func watch(_ lane: Lane) { self.lane.withLock { $0 = lane } }

    // MARK: Moments

    /// A moment that happens now.
    func moment(_ what: Moment.What, of module: Int? = nil) -> Moment {
        Moment(
            time: clock.wrappingAdd(1, ordering: .relaxed).oldValue, module: module,
            thread: NativeThread.current, what: what)
    }

    /// Notes what the driver, or the log, has to say.
    func note(_ what: Moment.What, of module: Int? = nil) {
        let moment = moment(what, of: module)
        state.withLock { $0.moments.append(moment) }
    }

    /// Takes what a module did, which goes.
    func close(_ moments: sending [Moment]) {
        state.withLock { [moments] state in
            state.moments += moments
            state.gone += 1
        }
        news.signal()
    }

    func error(_ text: String) {
        state.withLock { $0.diagnostics.append(text) }
        news.signal()
    }

    /// All moments, in order.
    var history: [Moment] {
        let moments = state.withLock { $0.moments }
        var history = [Moment?](repeating: nil, count: clock.load(ordering: .relaxed))
        for moment in moments { history[moment.time] = moment }
        return history.compactMap(\.self)
    }

    var diagnostics: [String] { state.withLock { $0.diagnostics } }
    var gone: Int { state.withLock { $0.gone } }
    var overdue: Set<Int> { state.withLock { $0.overdue } }
    var arrivals: Int { state.withLock { $0.arrivals } }
    var rejoinings: Int { state.withLock { $0.rejoinings } }
    var marker: Int { state.withLock { $0.marker } }
    var end: AppHost.End? { state.withLock { $0.end } }

    /// The lane has come to the marker of a number.
    func reached(marker: Int) {
        state.withLock { $0.marker = max($0.marker, marker) }
        news.signal()
    }

    func ended(_ end: AppHost.End) {
        state.withLock { $0.end = end }
        news.signal()
    }

    // MARK: Asynchronous calls

    /// Waits until the call is woken, once for each slice but the first.
    func sleep(_ number: Int) async {
        await withCheckedContinuation { continuation in
            let isAwake = sleepers.withLock { sleepers in
                if sleepers.isOver { return true }
                if let woken = sleepers.woken[number], woken > 0 {
                    sleepers.woken[number] = woken - 1
                    return true
                }
                sleepers.waiting[number] = continuation
                return false
            }
            if isAwake { continuation.resume() }
        }
    }

    func wake(_ number: Int) {
        let continuation = sleepers.withLock { sleepers in
            let continuation = sleepers.waiting.removeValue(forKey: number)
            if continuation == nil { sleepers.woken[number, default: 0] += 1 }
            return continuation
        }
        continuation?.resume()
    }

    /// Wakes all calls, also those to come.
    func wakeAll() {
        let waiting = sleepers.withLock { sleepers in
            sleepers.isOver = true
            defer { sleepers.waiting = [:] }
            return sleepers.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    // MARK: Doors

    private func door(_ number: Int) -> ModelDoor {
        state.withLock { state in
            if let door = state.doors[number] { return door }
            let door = ModelDoor(isOpen: state.areAllOpen)
            state.doors[number] = door
            return door
        }
    }

    func open(_ number: Int) { door(number).open() }

    /// Opens all doors, also those to come.
    func openAll() {
        let doors = state.withLock { state in
            state.areAllOpen = true
            return Array(state.doors.values)
        }
        for door in doors { door.open() }
        wakeAll()
    }

    /// Stands before a door until it is open.
    ///
    /// - Parameters:
    ///   - number: The door.
    ///   - entered: The moment at which the module was entered.
    ///   - turns: Stands awake, and so many turns longer; nil to fall asleep.
    func pass(_ number: Int, entered: Int, turns: Int?) {
        let door = door(number)
        guard !door.isOpen else { return }
        let word = lane.withLock { $0 }?.hold?.ownership
        state.withLock { state in
            state.stands[number] = Stand(door: number, word: word, entered: entered)
            state.arrivals += 1
        }
        news.signal()
        door.pass(awake: turns != nil)
        state.withLock { $0.stands[number] = nil }
        linger(turns ?? 0)
    }

    /// Goes on a little later, awake.
    func linger(_ turns: Int) {
        for _ in 0..<turns { _ = clock.load(ordering: .relaxed) }
    }

    /// Who stands before a closed door on the lane whose word this is.
    func stand(at word: Ownership) -> Stand? {
        state.withLock { state in
            state.stands.values.first {
                $0.word == word && state.doors[$0.door]?.isOpen == false
            }
        }
    }

    /// Who waits for a door to be opened.
    func waiting(at door: Int) -> Stand? {
        state.withLock { $0.doors[door]?.isOpen == false ? $0.stands[door] : nil }
    }

    /// Whether no thread is at a door any more.
    func isLeft(_ door: Int) -> Bool { state.withLock { $0.stands[door] == nil } }

    /// What is where, for a trial that does not come to its end.
    var whereabouts: String {
        state.withLock { state in
            let doors = state.stands.values.map {
                "\($0.door)\($0.word == nil ? "" : " on the lane")"
            }
            return "stood at: \(doors.sorted()), late: \(state.overdue.sorted()), "
                + "end: \(state.end.map { "\($0)" } ?? "none"), gone: \(state.gone)"
        }
    }
}

/// A door that stays open once it was opened.
private final class ModelDoor: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let opened: Atomic<Bool>

    init(isOpen: Bool) { opened = Atomic(isOpen) }

    var isOpen: Bool { opened.load(ordering: .acquiring) }

    func open() {
        if !opened.exchange(true, ordering: .releasing) { semaphore.signal() }
    }

    func pass(awake: Bool) {
        // Not for ever: the thread that is to open it may wait for a processor.
        var turns = awake ? 20_000 : 0
        while turns > 0, !isOpen { turns -= 1 }
        while !isOpen { semaphore.wait() }
    }
}

// MARK: What the log says

extension ModelStage: LogSink {
    func write(_ record: LogRecord) {
        guard let module = record.module.flatMap(Self.index) else { return }
        let message = record.message
        if message.hasPrefix("responsive again") {
            let number = message.split(separator: " ").compactMap { Int($0) }.first
            note(.saysRejoined(missed: number ?? 0), of: module)
            state.withLock { state in
                state.overdue.remove(module)
                state.rejoinings += 1
            }
            news.signal()
        } else if message.hasPrefix("unresponsive"), let chain = message.split(separator: ":").first
        {
            // `overdue, called by x.m1, called by x.m0`
            let callers = chain.split(separator: " ").compactMap { Self.index(String($0)) }
            let modules = callers.reversed() + [module]
            note(.saysLate(modules))
            state.withLock { $0.overdue.formUnion(modules) }
        }
    }

    /// The number of a module by its id, `x.m2`.
    static func index(_ id: String) -> Int? {
        id.hasPrefix("x.m") ? Int(id.dropFirst(3).prefix { $0 != "," }) : nil
    }
}
