/// What happens in one trial of the lane: which modules there are, and what comes from outside, step by
/// step, with all that the modules do when they receive it.
///
/// It is a value, made from a seed and nothing else. Threads race as they like in it: what is asserted
/// holds for every order in which they come.
struct Schedule: Sendable {
    /// A module.
    struct Module: Sendable {
        /// Whether it receives every event; else it receives messages alone.
        var isKeen = true
        var backlog = 100
        /// Its deadline, in ticks of the watchdog.
        var patience = Schedule.patience
    }

    /// What comes from outside, or of the clock.
    enum Step: Sendable {
        /// An event.
        case deliver(Event)
        /// Waits until nothing moves: the lane stands before a door, or has nothing to do.
        case settle
        /// Has the watchdog look so often at who stands before a door on the lane.
        case tick(Int)
        /// Has it look until the lane is taken over.
        case overrun
        /// Has it look for the last time while the door is being opened: either may come first.
        case race(turns: Int)
        /// Has the watchdog act on what it saw before the last door was opened: nothing may come of it.
        case strike
        case open(Int)
        /// Lets an asynchronous call go on to its next slice.
        case wake(Int)
        /// Has the host itself stand before a door, on the lane.
        case hold(Int)
        /// Opens two doors while the lane's lock is held: who stood there comes to the lock one after the
        /// other, and from then on they have it in turn.
        case squeeze(Int, Int, turns: Int)
        /// Stops the app; what follows comes too late, or just in time.
        case stop
    }

    /// An event, with what each module does when it receives it.
    struct Event: Sendable {
        enum Kind: Sendable {
            case message
            /// The first module to claim it ends the search.
            case shortcut
            /// The slatefile was read again.
            case configuration
        }

        let number: Int
        var kind = Kind.message
        /// The modules that claim it.
        var claimers: Set<Int> = []
        /// By module.
        var acts: [[Act]]
    }

    /// What a module does in the middle of a call.
    enum Act: Sendable {
        /// Waits before a door until it is opened.
        case stall(Int)
        /// The same without falling asleep, and so many turns longer: for a race with who opens it.
        case meet(Int, turns: Int)
        case open(Int)
        case call(Call)
        case send(Broadcast)
        case post(Event)
        /// Calls a route that answers later, with a completion.
        case begin(Slices)
        /// Lets an asynchronous call go on to its next slice.
        case wake(Int)
        case fail
    }

    /// A call of a route that answers later: what the module does from one suspension to the next.
    struct Slices: Sendable {
        let number: Int
        let target: Int
        /// By slice.
        var acts: [[Act]]
    }

    /// A call of another module, or of the same, and what that does then.
    struct Call: Sendable {
        let number: Int
        let target: Int
        var acts: [Act]
    }

    /// A typed message to all, and what each does then.
    struct Broadcast: Sendable {
        let number: Int
        /// By module.
        var acts: [[Act]]
    }

    /// The deadline for an event in ticks, unless a module has its own.
    static let patience = 10

    var modules: [Module]
    var steps: [Step]

    /// Every event by its number, also those that modules post.
    var events: [Int: Event] {
        var events: [Int: Event] = [:]
        func gather(_ event: Event) {
            events[event.number] = event
            for act in event.acts.joined() { gather(act) }
        }
        func gather(_ act: Act) {
            switch act {
            case .post(let event): gather(event)
            case .call(let call): for act in call.acts { gather(act) }
            case .send(let broadcast): for act in broadcast.acts.joined() { gather(act) }
            case .begin(let slices): for act in slices.acts.joined() { gather(act) }
            case .stall, .meet, .open, .wake, .fail: break
            }
        }
        for case .deliver(let event) in steps { gather(event) }
        return events
    }
}

extension Schedule {
    /// Every call of a route that answers later, by its number.
    var asynchronousCalls: [Int: Slices] {
        var calls: [Int: Slices] = [:]
        func gather(_ act: Act) {
            switch act {
            case .begin(let slices):
                calls[slices.number] = slices
                for act in slices.acts.joined() { gather(act) }
            case .post(let event): for act in event.acts.joined() { gather(act) }
            case .call(let call): for act in call.acts { gather(act) }
            case .send(let broadcast): for act in broadcast.acts.joined() { gather(act) }
            case .stall, .meet, .open, .wake, .fail: break
            }
        }
        for case .deliver(let event) in steps {
            for act in event.acts.joined() { gather(act) }
        }
        return calls
    }
}

// MARK: In words

extension Schedule: CustomStringConvertible {
    /// A line for each module and each step.
    var description: String {
        let modules = modules.enumerated().map { "m\($0): \($1)" }
        return (modules + steps.map { "\($0)" }).joined(separator: "\n")
    }
}

extension Schedule.Module: CustomStringConvertible {
    var description: String {
        "receives \(isKeen ? "all" : "messages"), backlog \(backlog), deadline \(patience) ticks"
    }
}

extension Schedule.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .deliver(let event): "deliver \(event)"
        case .settle: "settle"
        case .tick(let count): "tick \(count)"
        case .overrun: "overrun"
        case .race(let turns): "race, \(turns) turns after the door"
        case .strike: "strike late"
        case .open(let door): "open \(door)"
        case .wake(let number): "wake \(number)"
        case .hold(let door): "hold the lane at \(door)"
        case .squeeze(let first, let second, let turns):
            "squeeze \(first), then \(second) \(turns) turns later"
        case .stop: "stop"
        }
    }
}

extension Schedule.Event: CustomStringConvertible {
    var description: String {
        let claims = claimers.sorted().map { "m\($0)" }.joined(separator: ",")
        return "\(kind) \(number)\(claims.isEmpty ? "" : " claimed by \(claims)")\(inWords(acts))"
    }
}

extension Schedule.Act: CustomStringConvertible {
    var description: String {
        switch self {
        case .stall(let door): "stall \(door)"
        case .meet(let door, let turns): "meet \(door) + \(turns)"
        case .open(let door): "open \(door)"
        case .call(let call):
            "call \(call.number) of m\(call.target)"
                + (call.acts.isEmpty
                    ? "" : " [\(call.acts.map(\.description).joined(separator: "; "))]")
        case .send(let broadcast): "send \(broadcast.number)\(inWords(broadcast.acts))"
        case .post(let event): "post \(event)"
        case .begin(let slices):
            "begin \(slices.number) of m\(slices.target) ["
                + slices.acts.map { $0.map(\.description).joined(separator: "; ") }
                .joined(separator: " / ") + "]"
        case .wake(let number): "wake \(number)"
        case .fail: "fail"
        }
    }
}

private func inWords(_ acts: [[Schedule.Act]]) -> String {
    let lists = acts.enumerated().filter { !$1.isEmpty }.map { module, acts in
        "m\(module): " + acts.map(\.description).joined(separator: "; ")
    }
    return lists.isEmpty ? "" : " [" + lists.joined(separator: " | ") + "]"
}
