import ModuleHostCore

/// What must hold of the delivery of events, as a reader would say it, checked against what happened in a
/// trial.
///
/// It knows nothing of threads, locks and lists. It is given all that happened, in the order in which it did,
/// and holds that against the rules: each has a entry below.
struct DeliveryModel {
    struct Module {
        let spec: Schedule.Module
        /// The events it received: the number of each in the host's log, and how many were offered by then.
        var received: [(sequence: UInt64, offered: Int)] = []
        /// How many it missed, as the log says.
        var missed = 0
        /// The number of times that the log has reported it overdue, and not yet caught up.
        var lines = 0
        /// The door it stands before since its deadline is over: it is overdue, whatever happens elsewhere.
        var stuckAt: Int?
        /// The number of times that it became overdue, and the log has not reported yet that it has caught up.
        ///
        /// The log may say so only after it is overdue again.
        var rejoiningsToCome = 0
        /// Whether it may be overdue, for all that can be known from outside.
        var isMaybeOverdue: Bool { rejoiningsToCome > 0 }
        /// How often each of these has begun.
        var timesOverdueForSure = 0
        var timesMaybeOverdue = 0

        init(_ spec: Schedule.Module) { self.spec = spec }
    }

    /// How often things happened: what never does is not tried.
    struct Tally {
        var invocations = 0
        var overdue = 0
        var rejoined = 0
        var missed = 0
        var calls = 0
        var callsOfOverdue = 0
        var races = 0
        var slices = 0
        var slicesOfOverdue = 0

        mutating func add(_ other: Tally) {
            invocations += other.invocations
            overdue += other.overdue
            rejoined += other.rejoined
            missed += other.missed
            calls += other.calls
            callsOfOverdue += other.callsOfOverdue
            races += other.races
            slices += other.slices
            slicesOfOverdue += other.slicesOfOverdue
        }

        /// Everything that is counted.
        var all: [Int] {
            [
                invocations, overdue, rejoined, missed, calls, callsOfOverdue, races, slices,
                slicesOfOverdue,
            ]
        }
    }

    /// What was so when a call was made.
    private struct Asking {
        let isOverdueForSure: Bool
        let isMaybeOverdue: Bool
        let timesOverdueForSure: Int
        let timesMaybeOverdue: Int
    }

    /// A thread that is in module code.
    private struct Stack {
        var modules: [Int] = []
        var outermost = Moment.Invocation.call(0)
        /// How often the watchdog has looked since the outermost module was entered.
        var looks = 0
    }

    /// A list apart, so that what is said of an error may look at the model.
    final class Findings {
        var diagnostics: [String] = []
    }

    /// An event in which no module does anything, after all others.
    static let last = Schedule.Event(number: 0, acts: [])

    let events: [Int: Schedule.Event]
    let asynchronousCalls: [Int: Schedule.Slices]
    private(set) var modules: [Module]
    private var threads: [UInt: Stack] = [:]
    private var doors: [Int: UInt] = [:]
    private var calls: [Int: Asking] = [:]
    /// How often each call was made, and which modules received each broadcast.
    private var madeCalls: [Int: Int] = [:]
    private var receivedBroadcasts: [Int: [Int]] = [:]
    /// The number of slices that each asynchronous call has begun.
    private(set) var slices: [Int: Int] = [:]
    private(set) var names: [UInt64: Moment.EventName] = [:]
    private(set) var numbers: [Moment.EventName: UInt64] = [:]
    /// When each event was given to the host, and when the host had it.
    private(set) var offers: [Int: (from: Int, to: Int?)] = [:]
    /// Launch and activation come before all others.
    private(set) var offered = 2
    private(set) var stops: Int?
    /// The modules that were overdue when the stop began: they are waited for only as long as `deadlines.stop`.
    private var overdueBeforeStop: Set<Int> = []
    /// The ticks of the clock since the stop began, at most.
    private var ticksOfStop = 0
    /// The modules that were overdue since the stop began.
    private var overdueInStop: Set<Int> = []
    /// Who is overdue, and what the log has not said yet.
    private(set) var overdue: [[Int]] = []
    /// From whom the lane is being taken, and before which door they stand.
    private var taken: (stack: [Int], door: Int)?
    /// The door that the watchdog looks at.
    private var looksAt: Int?
    private var openedByModules: Set<Int> = []
    /// Whether a door was opened while the watchdog looked: who is overdue is up to them from then on.
    private(set) var isRace = false
    let findings = Findings()
    private(set) var tally = Tally()

    init(_ schedule: Schedule) {
        events = schedule.events
        asynchronousCalls = schedule.asynchronousCalls
        modules = schedule.modules.map { Module($0) }
    }

    func expect(_ condition: Bool, _ error: @autoclosure () -> String) {
        if !condition { findings.diagnostics.append(error()) }
    }

    mutating func take(_ moment: Moment) {
        let module = moment.module ?? 0
        switch moment.what {
        case .begins(let invocation): begins(invocation, module, on: moment.thread)
        case .ends: _ = threads[moment.thread]?.modules.popLast()
        case .stands(let door): doors[door] = moment.thread
        case .asks(let call): asks(call)
        case .answered(let call, let answer): answered(call, answer)
        case .answeredLater(let slices, let answer): answeredLater(slices, answer)
        case .sends: break
        case .sent(let broadcast, let report): sent(broadcast, report)
        case .offers(let number):
            offers[number] = (moment.time, nil)
            offered += 1
        case .offered(let number): offers[number]?.to = moment.time
        case .opens(let door):
            if moment.module != nil { opensItself(door) }
            opens { $0 == door }
        case .opensAll: opens { _ in true }
        case .looks(let door): looks(at: door)
        case .looked:
            if stops != nil { ticksOfStop += 1 }
            looked()
        case .races:
            if stops != nil { ticksOfStop += 1 }
            races()
        case .stops:
            if stops == nil {
                overdueBeforeStop = Set(
                    modules.indices.filter {
                        modules[$0].stuckAt != nil || modules[$0].isMaybeOverdue
                    })
            }
            stops = stops ?? moment.time
            offered += 3
        case .saysLate(let stack): saysLate(stack)
        case .saysRejoined(let missed):
            modules[module].missed += missed
            modules[module].lines -= 1
            tally.rejoined += 1
            tally.missed += missed
            if !isRace { modules[module].rejoiningsToCome -= 1 }
        }
    }

    // MARK: A module receives each event once, in the order of the log, and so do all the others

    private mutating func begins(_ invocation: Moment.Invocation, _ module: Int, on thread: UInt) {
        tally.invocations += 1
        if threads[thread, default: Stack()].modules.isEmpty {
            threads[thread] = Stack(outermost: invocation)
        }
        threads[thread]?.modules.append(module)
        switch invocation {
        case .event(let name, let sequence):
            if let last = modules[module].received.last {
                expect(
                    last.sequence < sequence,
                    "m\(module) gets \(name), number \(sequence), after number \(last.sequence)")
            }
            modules[module].received.append((sequence, offered))
            expect(
                names[sequence, default: name] == name,
                "number \(sequence) is \(name) to m\(module), and was another event to others")
            expect(
                numbers[name, default: sequence] == sequence,
                "\(name) is number \(sequence) to m\(module), and was another to others")
            names[sequence] = name
            numbers[name] = sequence
        case .call(let number):
            madeCalls[number, default: 0] += 1
            expect(madeCalls[number] == 1, "call \(number) was made twice")
        case .broadcast(let number):
            expect(
                receivedBroadcasts[number]?.contains(module) != true,
                "m\(module) received broadcast \(number) twice")
            receivedBroadcasts[number, default: []].append(module)
        case .slice(let number, let index): begins(slice: index, of: number, module, on: thread)
        }
    }

    // MARK: Each slice of a call runs once, in order; while its module is overdue, on the thread that it keeps

    private mutating func begins(
        slice index: Int, of number: Int, _ module: Int, on thread: UInt
    ) {
        tally.slices += 1
        expect(
            slices[number, default: 0] == index,
            "slice \(index) of call \(number) comes after \(slices[number, default: 0]) slices")
        slices[number] = index + 1
        guard let door = modules[module].stuckAt, !isRace else { return }
        expect(
            false, "slice \(index) of call \(number) runs while m\(module) stands at door \(door)")
    }

    private mutating func answeredLater(_ call: Schedule.Slices, _ answer: Moment.Answer) {
        let what = "asynchronous call \(call.number) of m\(call.target)"
        let begun = slices[call.number, default: 0]
        let fails = call.acts.firstIndex { self.fails($0) }
        switch answer {
        case .value(call.number):
            expect(
                begun == call.acts.count && fails == nil,
                "\(what) is answered after \(begun) slices")
        case .failure: expect(fails == begun - 1, "\(what) has failed after \(begun) slices")
        case .overdue(call.target):
            tally.slicesOfOverdue += 1
            expect(begun == 0, "\(what) was begun, though the target is late")
        case .tookTooLong(call.target):
            // The caller may learn it later, when more slices have run.
            expect(begun >= 1, "\(what) took too long before it had begun")
        case .ended: expect(stops != nil, "\(what): the host says it has ended")
        default: expect(false, "\(what) is answered with \(answer)")
        }
    }

    // MARK: Overdue is each module that does not return within the deadline, with those on its stack, and no other

    private mutating func looks(at door: Int) {
        looksAt = door
        if openedByModules.contains(door) { races() }
        guard let thread = doors[door], var stack = threads[thread],
            let outermost = stack.modules.first
        else { return }
        stack.looks += 1
        threads[thread] = stack
        // The first look finds who is there; from then on the ticks count.
        guard stack.looks == patience(of: outermost, in: stack.outermost) + 1 else { return }
        overdue.append(stack.modules)
        if stops != nil, let blamed = stack.modules.last { overdueInStop.insert(blamed) }
        for index in Set(stack.modules) { becomesMaybeOverdue(index) }
        taken = (stack.modules, door)
    }

    private mutating func looked() {
        looksAt = nil
        guard let (stack, door) = taken else { return }
        taken = nil
        for index in Set(stack) {
            modules[index].stuckAt = door
            modules[index].timesOverdueForSure += 1
        }
    }

    /// A module has opened a door: it is unknown whether the module that stood there still does.
    private mutating func opensItself(_ door: Int) {
        openedByModules.insert(door)
        if looksAt == door { races() }
    }

    private mutating func races() {
        isRace = true
        tally.races += 1
        for index in modules.indices { becomesMaybeOverdue(index) }
    }

    private func patience(of module: Int, in invocation: Moment.Invocation) -> Int {
        // Less than a tick of the trial's.
        if overdueInStop.contains(module) { return 0 }
        return switch invocation {
        case .event(.state(.resignActive), _), .event(.state(.background), _),
            .event(.state(.terminate), _):
            Schedule.patience
        default: modules[module].spec.patience
        }
    }

    private mutating func becomesMaybeOverdue(_ module: Int) {
        modules[module].rejoiningsToCome += 1
        modules[module].timesMaybeOverdue += 1
    }

    private mutating func opens(_ isOpened: (Int) -> Bool) {
        for index in modules.indices {
            if let door = modules[index].stuckAt, isOpened(door) { modules[index].stuckAt = nil }
        }
    }

    private mutating func saysLate(_ stack: [Int]) {
        for index in Set(stack) { modules[index].lines += 1 }
        tally.overdue += Set(stack).count
        if !isRace || overdue.first == stack {
            expect(overdue.first == stack, "\(names(of: stack)) late, and is not overdue")
            if !overdue.isEmpty { overdue.removeFirst() }
        }
    }

    func names(of modules: [Int]) -> String {
        modules.map { "m\($0)" }.joined(separator: ", which called ") + " is"
    }

    /// The modules that the stop does not wait for any more: the app may end before they return.
    var leftBehind: Set<Int> { ticksOfStop < Schedule.patience ? [] : overdueBeforeStop }

    // MARK: A call is answered by the module, or with the word that it is overdue: at once, and truly

    private mutating func asks(_ call: Schedule.Call) {
        let target = modules[call.target]
        tally.calls += 1
        if target.stuckAt != nil { tally.callsOfOverdue += 1 }
        calls[call.number] = Asking(
            isOverdueForSure: target.stuckAt != nil, isMaybeOverdue: target.isMaybeOverdue,
            timesOverdueForSure: target.timesOverdueForSure,
            timesMaybeOverdue: target.timesMaybeOverdue)
    }

    private func answered(_ call: Schedule.Call, _ answer: Moment.Answer) {
        let target = modules[call.target]
        guard let asking = calls[call.number] else { return }
        let what = "call \(call.number) of m\(call.target)"
        let times = madeCalls[call.number, default: 0]
        if answer == .ended { return expect(stops != nil, "\(what): the host says it has ended") }
        let regular: Moment.Answer = fails(call.acts) ? .failure : .value(call.number)
        switch answer {
        case regular: expect(times == 1, "\(what) is answered, and was made \(times) times")
        case .overdue(call.target):
            expect(times == 0, "\(what) was made, though the target is late")
        case .tookTooLong(call.target): break
        default: expect(false, "\(what) is answered with \(answer), not with \(regular)")
        }
        let wasOverdueForSure =
            asking.isOverdueForSure && target.stuckAt != nil
            && asking.timesOverdueForSure == target.timesOverdueForSure
        if wasOverdueForSure, !isRace {
            expect(
                answer == .overdue(call.target),
                "\(what) is answered with \(answer), though the target is late all the time")
        }
        let wasMaybeOverdue =
            asking.isMaybeOverdue || target.isMaybeOverdue
            || asking.timesMaybeOverdue != target.timesMaybeOverdue
        if !wasMaybeOverdue {
            expect(
                answer == regular,
                "\(what) is answered with \(answer), though the target was never late")
        }
    }

    private func fails(_ acts: [Schedule.Act]) -> Bool {
        acts.contains { if case .fail = $0 { true } else { false } }
    }

    /// A typed message reaches each module, or counts it as late.
    private func sent(_ broadcast: Schedule.Broadcast, _ report: DeliveryReport) {
        let what = "broadcast \(broadcast.number)"
        let receivers = receivedBroadcasts[broadcast.number, default: []].count
        expect(
            receivers == report.delivered + report.failed,
            "\(what) was received by \(receivers), and the report says \(report)")
        guard stops == nil else { return }
        expect(
            receivers + report.overdue == modules.count && report.refusal == nil,
            "\(what) was sent to \(modules.count), and the report says \(report)")
    }
}
