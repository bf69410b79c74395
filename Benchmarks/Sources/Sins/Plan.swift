/// What is done, and how often.
struct Plan {
    var rounds = 50
    var seed: UInt64 = 1
    /// Durable events a second.
    var rate = 100
    /// How long modules that behave are watched before the first round, and after the last.
    let calm = 10
    /// Within which number of events from its start each sin begins.
    let begin = 10...800
    /// How many events a flood lasts of which no module dies.
    let flooding = 200
    /// How long that is at the most, with a second and a half for those that wait in a write.
    var floodSeconds: Double { Double(flooding) / Double(rate) + 1.5 }
    /// When others come that fail in their start, and the call is made: milliseconds from a round's start.
    let errands = 100...8000
    /// How long a module may take over an event that will not return from it.
    let deadlineMilliseconds = 50
}

/// What a module is made to do wrong, and what of it is to be seen.
struct Sin: Sendable {
    enum Kind {
        /// In an event: its process ends, or is made to.
        case deadly
        /// In a call.
        case call
        /// In an event; the process lives on.
        case harmless
        /// When its process is to end.
        case end
        /// When its process is made: the reload that wants it is undone.
        case start
    }

    let name: String
    let kind: Kind
    /// For how many milliseconds others may wait for it: until its deadline, where it has one of its own.
    let wait: Int
    /// Whether it has a deadline of its own, since it will not answer.
    let isImpatient: Bool

    private init(_ name: String, _ kind: Kind, wait: Int = 0, isImpatient: Bool = false) {
        (self.name, self.kind, self.wait, self.isImpatient) = (name, kind, wait, isImpatient)
    }

    /// One that others wait for until its deadline.
    private static func hanging(_ name: String, _ kind: Kind = .deadly, wait: Int = 100) -> Sin {
        Sin(name, kind, wait: wait, isImpatient: true)
    }

    static let all: [Sin] = [
        // Its runtime prints a backtrace before it ends.
        hanging("trap"),
        hanging("abort"),
        Sin("exit-in-event", .deadly),
        Sin("grandchild", .deadly),
        hanging("hang-event"),
        hanging("answer-never"),
        hanging("spin"),
        hanging("half-line"),
        hanging("close-stdout"),
        hanging("hang-call", .call),
        // It answers as soon as its writes let it, and no module waits for one that floods.
        Sin("flood-stderr", .harmless, wait: 100),
        // 64 of its posts at a time go round all modules.
        Sin("flood-stdout", .deadly, wait: 300),
        Sin("flood-garbage", .deadly),
        // It takes its time to write so much.
        Sin("long-line", .deadly, wait: 100),
        Sin("invalid-utf8", .deadly),
        Sin("wrong-id", .deadly),
        Sin("answer-twice", .deadly),
        // Sixteen events take it some 40 ms each, which is within its deadline.
        Sin("eat-memory", .harmless, wait: 1500),
        Sin("hang-shutdown", .end),
        Sin("ignore-term", .end),
        Sin("exit", .start),
        Sin("wrong-version", .start),
        hanging("hang-initialize", .start),
    ]
}

/// Numbers that a seed decides: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
