/// The layout of a black box's file: words of eight bytes, in the machine's byte order.
///
/// ```
/// head │ unanswered │ stacks of the lane's threads │ behind │ notified │ overdue │ tasks │ ranks │ services │ names
/// ```
///
/// The last seven have an entry for each slot, by its number; entry 0 belongs to the host.
struct BlackBoxLayout: Hashable {
    /// `"HostdBox"`, as a machine of little-endian order reads it.
    static let magic: UInt64 = 0x786F_4264_7473_6F48
    /// The version of the layout, which changes with anything here and with ``BlackBox/Activity``.
    ///
    /// A box of another version is not read.
    static let version: UInt64 = 5

    /// The words of the head.
    enum Word: Int, CaseIterable {
        case magic
        /// The version, and below it the capacity in 32 bits.
        case form
        case processID
        case state
        case startedSeconds
        case startedNanoseconds
        case bootHigh
        case bootLow
        case activity
        /// The number of the stack that belongs to the lane's owner, from 1.
        case stack
        case current
        case attempt
        case next
        case cursorSequence
        /// A flag that is not 0 once a position could not be noted.
        case incomplete
        /// The number of the box's file in its file system, by which a copy is recognized; 0 for none.
        case file
    }

    /// The words of the head, in whole cache lines, as all parts before the stacks.
    static let headWords = 16

    /// The number of durable events whose answers are to come: 1024 and those in the window of the inbox, and as
    /// many that the last host has left.
    static let unanswered = 2304

    /// The number of threads with a stack in the box: the owner of the lane, and threads of overdue modules.
    ///
    /// A host with more of them does not name the module that was running.
    static let stacks = 64
    /// The words before a stack: the thread's ownership word, and the flag for a thread that takes the lane from it.
    static let ownershipWords = 2
    /// The words of a stack with those before it, in whole cache lines: a slot's number at each depth, two bytes each.
    static let stackWords = (ownershipWords * 8 + (CallDepth.maximum + 1) * 2 + 63) / 64 * 8

    /// The words of a name: a length and the bytes; an id has 253 at most.
    static let nameWords = 33
    static let nameLimit = (nameWords - 1) * 8

    /// The possible numbers of slots in a box.
    static let capacities = 1...Int(UInt16.max)
    let capacity: Int

    /// - Parameter capacity: The highest number of a slot.
    init(capacity: Int) {
        self.capacity = min(max(capacity, Self.capacities.lowerBound), Self.capacities.upperBound)
    }

    /// Creates the layout from a box's second word; nil where that is another version's.
    init?(form: UInt64) {
        guard form >> 32 == Self.version,
            Self.capacities.contains(Int(form & 0xFFFF_FFFF))
        else { return nil }
        capacity = Int(form & 0xFFFF_FFFF)
    }

    var form: UInt64 { Self.version << 32 | UInt64(capacity) }

    func unanswered(_ number: Int) -> Int { Self.headWords + number }
    func stack(_ number: Int) -> Int { unanswered(Self.unanswered) + number * Self.stackWords }
    private var slots: Int { stack(Self.stacks) }
    func behind(_ slot: Int) -> Int { slots + slot }
    func notified(_ slot: Int) -> Int { slots + (capacity + 1) + slot }
    func overdue(_ slot: Int) -> Int { slots + 2 * (capacity + 1) + slot }
    func tasks(_ slot: Int) -> Int { slots + 3 * (capacity + 1) + slot }
    func rank(_ slot: Int) -> Int { slots + 4 * (capacity + 1) + slot }
    func services(_ slot: Int) -> Int { slots + 5 * (capacity + 1) + slot }
    func name(_ slot: Int) -> Int { slots + 6 * (capacity + 1) + slot * Self.nameWords }

    var size: Int { name(capacity + 1) * 8 }
}
