import TestSupport

/// Makes schedules from seeds.
///
/// Most of a schedule is chance. What chance hardly ever hits, such as a call of an overdue module while its
/// target is busy on the lane, is put in as a whole: a *figure*, whose doors force the moment.
struct ScheduleGenerator {
    private var random: SeededGenerator
    private var modules: [Schedule.Module]
    private var events = 0
    private var calls = 0
    private var doors = 0
    private var closed: [Int] = []
    /// The asynchronous calls, once for each slice that is to be woken.
    private var asleep: [Int] = []

    private init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        modules = []
        modules = (0..<roll(2...4)).map { index in
            Schedule.Module(
                // One module receives everything, so that every event is received.
                isKeen: index == 0 || one(in: 4) == false,
                backlog: one(in: 3) ? roll(1...3) : 100,
                patience: one(in: 5) ? 2 * Schedule.patience : Schedule.patience)
        }
    }

    /// The schedule of a seed: always the same.
    static func schedule(_ seed: UInt64) -> Schedule {
        var generator = ScheduleGenerator(seed: seed)
        var steps: [Schedule.Step] = []
        let length = generator.roll(5...16)
        while steps.count < length { steps += generator.steps() }
        return Schedule(modules: generator.modules, steps: steps)
    }

    private mutating func roll(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    private mutating func one(in count: Int) -> Bool { roll(1...count) == 1 }

    private mutating func anyModule() -> Int { roll(0...modules.count - 1) }

    // MARK: Steps

    private mutating func steps() -> [Schedule.Step] {
        switch roll(0...99) {
        case 0..<42: return [.deliver(event())]
        case 42..<52: return [.tick(roll(1...6))]
        case 52..<64: return [.overrun]
        case 64..<66: return [.race(turns: roll(0...3000))]
        case 66..<84:
            guard let door = closed.randomElement(using: &random) else { return [.settle] }
            closed.removeAll { $0 == door }
            return [.open(door)]
        case 84..<86: return [.settle]
        case 86..<88:
            guard let number = asleep.randomElement(using: &random) else { return [.settle] }
            if let index = asleep.firstIndex(of: number) { asleep.remove(at: index) }
            return [.wake(number)]
        case 88..<90: return [.strike]
        case 90..<91: return one(in: 4) ? overdueTwiceInStop() : [.stop]
        case 91..<94: return staleWord()
        case 94..<97: return callFromLate()
        case 97: return rejoinUnderFire()
        case 98: return sliceOfLate()
        default: return rejoinInTurn()
        }
    }

    private mutating func event(
        _ kind: Schedule.Event.Kind? = nil, depth: Int = 0
    ) -> Schedule.Event {
        events += 1
        var event = Schedule.Event(
            number: events, acts: Array(repeating: [], count: modules.count))
        guard depth < 3 else { return event }
        for module in modules.indices { event.acts[module] = acts(depth: depth) }
        switch kind ?? (depth > 0 ? .message : anyKind()) {
        case .message: break
        case .configuration: event.kind = .configuration
        case .shortcut:
            event.kind = .shortcut
            event.claimers = Set(modules.indices.filter { modules[$0].isKeen && one(in: 4) })
        }
        return event
    }

    private mutating func anyKind() -> Schedule.Event.Kind {
        switch roll(0...9) {
        case 0: .configuration
        case 1, 2: .shortcut
        default: .message
        }
    }

    private mutating func acts(depth: Int) -> [Schedule.Act] {
        var acts: [Schedule.Act] = []
        // Less and less the deeper it is, so that it ends.
        while acts.count < 3, roll(0...9) < 4 - depth { acts.append(act(depth: depth)) }
        if one(in: 12) { acts.append(.fail) }
        return acts
    }

    private mutating func act(depth: Int) -> Schedule.Act {
        switch roll(0...11) {
        case 10: return .begin(slices(of: anyModule(), depth: depth))
        case 11:
            guard let number = asleep.randomElement(using: &random) else { return .stall(door()) }
            return .wake(number)
        case 0..<4: return .stall(door())
        case 4..<7: return .call(call(of: anyModule(), acts(depth: depth + 1)))
        case 7..<9: return .post(event(.message, depth: depth + 2))
        default:
            calls += 1
            let number = calls
            return .send(
                Schedule.Broadcast(
                    number: number, acts: modules.map { _ in acts(depth: depth + 1) }))
        }
    }

    private mutating func call(of target: Int, _ acts: [Schedule.Act]) -> Schedule.Call {
        calls += 1
        return Schedule.Call(number: calls, target: target, acts: acts)
    }

    private mutating func slices(of target: Int, depth: Int) -> Schedule.Slices {
        calls += 1
        let number = calls
        let acts = (0..<roll(1...3)).map { _ in self.acts(depth: depth + 1) }
        asleep += Array(repeating: number, count: acts.count - 1)
        return Schedule.Slices(number: number, target: target, acts: acts)
    }

    private mutating func door() -> Int {
        doors += 1
        closed.append(doors)
        return doors
    }

    // MARK: Metrics

    /// An event in which one module alone does something.
    private mutating func event(_ module: Int, _ acts: [Schedule.Act]) -> Schedule.Event {
        events += 1
        var event = Schedule.Event(
            number: events, acts: Array(repeating: [], count: modules.count))
        event.acts[module] = acts
        return event
    }

    /// The same module is entered twice, and the watchdog looks at both invocations, at each for less than the
    /// deadline: only what counts the deliveries knows that they are two.
    private mutating func staleWord() -> [Schedule.Step] {
        let module = anyModule()
        let (first, second) = (door(), door())
        let looks = modules[module].patience - roll(0...3)
        return [
            .deliver(event(module, [.stall(first)])), .tick(looks), .open(first),
            .deliver(event(module, [.stall(second)])), .settle,
            one(in: 2) ? .strike : .tick(looks), .open(second),
        ]
    }

    /// An overdue module calls one that is busy on the lane.
    private mutating func callFromLate() -> [Schedule.Step] {
        let (overdue, busy) = (anyModule(), anyModule())
        let (first, second) = (door(), door())
        calls += 1
        let number = calls
        let reach: Schedule.Act =
            one(in: 3)
            ? .send(
                Schedule.Broadcast(
                    number: number, acts: Array(repeating: [], count: modules.count)))
            : .call(call(of: busy, []))
        return [
            .deliver(event(overdue, [.stall(first), reach])), .overrun,
            .deliver(event(busy, [.stall(second)])), .settle, .open(first), .settle,
            .open(second),
        ]
    }

    /// A module is overdue in one slice of a call, while the next slice of another call is woken.
    private mutating func sliceOfLate() -> [Schedule.Step] {
        let (module, other) = (anyModule(), anyModule())
        let first = door()
        calls += 2
        let (stuck, next) = (calls - 1, calls)
        let begin = event(
            other,
            [
                .begin(Schedule.Slices(number: next, target: module, acts: [[], []])),
                .begin(
                    Schedule.Slices(
                        number: stuck, target: module, acts: [[], [.stall(first)], []])),
            ])
        return [
            .deliver(begin), .settle, .wake(stuck), .overrun, .wake(next), .settle,
            one(in: 2) ? .deliver(event(module, [])) : .settle, .open(first), .settle,
            .wake(stuck),
        ]
    }

    /// An overdue module has caught up in the very moment in which the lane takes up the next event.
    private mutating func rejoinUnderFire() -> [Schedule.Step] {
        let overdue = anyModule()
        let (first, lane, last) = (door(), door(), door())
        return [
            .deliver(event(overdue, [.stall(first)])), .overrun,
            .deliver(event(overdue, [.stall(last)])), .open(first), .settle,
            .hold(lane), .deliver(event(overdue, [])), .settle,
            .squeeze(lane, last, turns: roll(0...6000)), .settle,
        ]
    }

    /// An overdue module lets the lane go on to the next event when it has received all but that.
    private mutating func rejoinInTurn() -> [Schedule.Step] {
        let overdue = anyModule()
        let other = (overdue + roll(1...modules.count - 1)) % modules.count
        let (first, second) = (door(), door())
        var last = event(other, [.meet(second, turns: roll(0...1500))])
        last.acts[overdue] = [.open(second)]
        return [
            .deliver(event(overdue, [.stall(first)])), .overrun, .deliver(last),
            .deliver(event(overdue, [])), .settle, .open(first),
        ]
    }

    /// A module is overdue in a stop, returns, and gets stuck again: then it is not waited for.
    private mutating func overdueTwiceInStop() -> [Schedule.Step] {
        let module = anyModule()
        let (first, lane, second) = (door(), door(), door())
        return [
            .deliver(event(module, [.stall(first)])), .hold(lane),
            .deliver(event(module, [.stall(second)])), .settle, .stop, .overrun,
            .open(first),
            .settle, .open(lane), .settle, .tick(1), .open(second),
        ]
    }
}
