import ModuleHostCore

/// Something that happened in a trial, as seen by the thread that did it.
struct Moment: Sendable {
    /// What a module is entered for.
    enum Invocation: Sendable {
        /// An event, with its number in the host's log.
        case event(EventName, UInt64)
        case call(Int)
        case broadcast(Int)
        /// A slice of an asynchronous call, from 0.
        case slice(Int, Int)
    }

    /// Which event: one of the schedule's, or one of the host's own.
    enum EventName: Hashable, Sendable {
        case numbered(Int)
        case state(EventKind)
    }

    /// How a call was answered.
    enum Answer: Hashable, Sendable {
        case value(Int)
        /// What the handler threw.
        case failure
        /// Not made: the module is overdue.
        case overdue(Int)
        /// Made, and not waited for any longer.
        case tookTooLong(Int)
        /// The app has come to its end.
        case ended
        case other(String)
    }

    enum What: Sendable {
        // What modules do.
        case begins(Invocation)
        case ends
        case stands(door: Int)
        case asks(Schedule.Call)
        case answered(Schedule.Call, Answer)
        /// The answer to an asynchronous call has come.
        case answeredLater(Schedule.Slices, Answer)
        case sends(Schedule.Broadcast)
        case sent(Schedule.Broadcast, DeliveryReport)
        // What modules or the driver do: an event is given to the host, and taken by it.
        case offers(Int)
        case offered(Int)
        case opens(door: Int)
        // What the driver does.
        case opensAll
        /// The watchdog looks at who stands before a door on the lane.
        case looks(door: Int)
        case looked
        /// It looks while they go on.
        case races
        case stops
        // What the log says.
        case saysLate([Int])
        case saysRejoined(missed: Int)
    }

    /// When: the moments of a trial are numbered from 0.
    let time: Int
    /// Which module, if one.
    let module: Int?
    /// On which thread.
    let thread: UInt
    let what: What
}
