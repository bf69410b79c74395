extension BlackBox {
    /// The contents of the black box of a host that has ended.
    package struct Contents: Hashable, Sendable {
        package var processID: Int32
        package var startedAt: WallTime
        package var app: String
        package var state: State
        /// Whether the machine has not been restarted since then.
        package var isOfThisBoot: Bool
        /// The work of the lane.
        package var activity: Activity?
        /// The module that the lane was in; nil for none.
        package var module: ModuleID?
        /// The chain of callers, the direct caller first.
        package var callers: [ModuleID]
        /// The module that the lane itself had entered, at the far end of the callers.
        ///
        /// The modules before it in the order have returned. Nil where the lane was in no module, and where
        /// that is not known.
        package var outermost: ModuleID?
        /// The modules, in the order of response.
        package var order: [ModuleID]
        /// The modules that were overdue, by slot number.
        package var overdue: [ModuleID]
        /// The modules that had start-up tasks running, by slot number.
        package var startingUp: [ModuleID]
        /// The modules that had registered services.
        package var registering: [ModuleID] = []
        /// The progress through the inbox; nil if the machine went down, or the box had no room for a
        /// position.
        package var progress: Progress?
        /// Whether this is a copy of the file that the host had.
        package var isCopy = false
    }

    /// A host's progress through its inbox.
    package struct Progress: Hashable, Sendable {
        /// An event that was begun, and not done.
        package struct InHand: Hashable, Sendable {
            package var position: EventPosition
            /// The number of the attempt, from 1.
            package var attempt: Int
        }

        /// The position of an overdue module.
        package struct Behind: Hashable, Sendable {
            /// The first event.
            package var position: EventPosition
            /// Whether the module was notified of that event, in the host's process.
            package var begun: Bool
            /// The last event of which it was notified; nil for none from the first on.
            package var notified: EventPosition?
        }

        package var current: InHand?
        /// The first event that the lane had not done; nil for one that was never noted.
        package var next: EventPosition?
        /// The sequence number of the cursor file that these positions continue.
        package var cursorSequence: UInt64
        package var behind: [ModuleID: Behind] = [:]
        /// The events that were delivered, and whose answers had not come; and whether this host had begun to
        /// deliver them, or an earlier one.
        package var unanswered: [EventPosition: Bool] = [:]
    }

    /// The work of a lane, except calls.
    package enum Activity: Hashable, Sendable {
        case event(EventKind)
        /// A module is being created.
        case making
        /// A module is being released.
        case release
    }
}

extension BlackBox.Contents {
    /// Reads the box in a state directory.
    ///
    /// - Returns: Nil where there is none, and for a file that is not a complete box of this version.
    package init?(in directory: StateDirectory) {
        guard let file = RegularFile(reading: directory.path(of: BlackBox.name)) else { return nil }
        self.init(file, boot: .current)
    }

    static let begunBit: UInt64 = 1 << 63

    /// Reads a box; accepts any bytes.
    ///
    /// - Parameter boot: The current boot of the machine; nil where it is unknown, and then the box
    ///   may be of another.
    init?(_ source: any BoxSource, boot: BootID?) {
        guard let words = BoxWords(source), let state = BlackBox.State(rawValue: words[.state]),
            let processID = Int32(exactly: words[.processID]), processID > 0,
            words[.startedNanoseconds] < 1_000_000_000
        else { return nil }
        self.processID = processID
        self.state = state
        startedAt = WallTime(
            seconds: Int(Int64(bitPattern: words[.startedSeconds])),
            nanoseconds: Int(words[.startedNanoseconds]))
        app = words.name(of: 0) ?? ""
        isOfThisBoot =
            boot != nil && boot == BootID(high: words[.bootHigh], low: words[.bootLow])
        activity = BlackBox.Activity(code: words[.activity])
        let stack = words.stack()
        module = stack.last.flatMap { words.module($0) }
        callers = stack.dropLast().reversed().compactMap { words.module($0) }
        outermost = stack.first.flatMap { words.module($0) }
        order = words.modulesByRank()
        overdue = words.modules { words[words.layout.overdue($0)] != 0 }
        startingUp = words.modules { words[words.layout.tasks($0)] != 0 }
        registering = words.modules { words[words.layout.services($0)] != 0 }
        progress = isOfThisBoot ? BlackBox.Progress(words) : nil
        isCopy = words[.file] != 0 && source.number != 0 && words[.file] != source.number
    }
}

extension BlackBox.Progress {
    /// The last position of the inbox that the progress mentions.
    var last: EventPosition? {
        ([next, current?.position].compactMap(\.self) + behind.values.map(\.position)
            + unanswered.keys).max()
    }

    /// - Returns: Nil where the positions are incomplete.
    fileprivate init?(_ words: BoxWords) {
        guard words[.incomplete] == 0 else { return nil }
        next = EventPosition(rawValue: words[.next])
        cursorSequence = words[.cursorSequence]
        for number in 0..<BlackBoxLayout.unanswered {
            let word = words[words.layout.unanswered(number)]
            if let position = EventPosition(rawValue: word & ~BlackBox.Contents.begunBit) {
                unanswered[position] = word & BlackBox.Contents.begunBit != 0
            }
        }
        for slot in 1...words.layout.capacity {
            let word = words[words.layout.behind(slot)]
            guard word != 0 else { continue }
            // The module that has not received the event is not known: so no positions are reported.
            guard let id = words.module(UInt16(slot)),
                let position = EventPosition(rawValue: word & ~BlackBox.Contents.begunBit)
            else { return nil }
            // A module that a reload has recreated has two numbers for a while.
            let other = behind[id]
            let notified = EventPosition(rawValue: words[words.layout.notified(slot)]).flatMap {
                $0 >= min(position, other?.position ?? position) ? $0 : nil
            }
            let last = [notified, other?.notified].compactMap(\.self).max()
            if let other, other.position < position {
                behind[id]?.notified = last
                continue
            }
            let isBegun = other?.position == position && other?.begun == true
            behind[id] = Behind(
                position: position, begun: isBegun || word & BlackBox.Contents.begunBit != 0,
                notified: last)
        }
        // An event before `next` is done, and was not yet cleared as the current one; unless it is delivered
        // again to some modules alone, and they have begun it. An overdue module that has begun it looks the
        // same: then no activity is noted any more, and LastDeath does not name the event.
        if let position = EventPosition(rawValue: words[.current]),
            next.map({ position >= $0 }) ?? true
                || behind.values.contains(where: { $0.position == position && $0.begun })
        {
            current = InHand(position: position, attempt: Int(clamping: words[.attempt]))
        }
    }
}

/// The bytes of a box, of which parts are read.
protocol BoxSource {
    var size: Int { get }
    /// The number of the file in its file system; 0 where it is not known.
    var number: UInt64 { get }

    /// Returns some bytes; nil where there are fewer, or they cannot be read.
    func bytes(_ count: Int, at offset: Int) -> [UInt8]?
}

extension BoxSource {
    var number: UInt64 { 0 }
}

extension RegularFile: BoxSource {}

/// The words of a file that is a box of this version.
private struct BoxWords {
    let layout: BlackBoxLayout
    /// The words before the names.
    private let words: [UInt64]
    /// The words of the names, up to that of the last slot that the box mentions.
    ///
    /// The names are nine tenths of a box, which has room for many more modules than a host has.
    private var names: [UInt64] = []

    init?(_ source: any BoxSource) {
        guard let head = Self.words(BlackBoxLayout.headWords, at: 0, of: source),
            head[BlackBoxLayout.Word.magic.rawValue] == BlackBoxLayout.magic,
            let layout = BlackBoxLayout(form: head[BlackBoxLayout.Word.form.rawValue]),
            layout.size == source.size,
            let words = Self.words(layout.name(0), at: 0, of: source)
        else { return nil }
        self.layout = layout
        self.words = words
        let count = (lastSlot + 1) * BlackBoxLayout.nameWords
        guard let names = Self.words(count, at: layout.name(0), of: source) else { return nil }
        self.names = names
    }

    /// The last slot that the box mentions; 0 where it mentions none.
    private var lastSlot: Int {
        let noted = (1...layout.capacity).last { slot in
            words[layout.rank(slot)] | words[layout.behind(slot)] | words[layout.overdue(slot)]
                | words[layout.tasks(slot)] | words[layout.services(slot)] != 0
        }
        let onStack = stack().map(Int.init).filter { $0 <= layout.capacity }.max()
        return max(noted ?? 0, onStack ?? 0)
    }

    private static func words(_ count: Int, at index: Int, of source: any BoxSource) -> [UInt64]? {
        source.bytes(count * 8, at: index * 8)?.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
    }

    subscript(index: Int) -> UInt64 { words[index] }
    subscript(word: BlackBoxLayout.Word) -> UInt64 { words[word.rawValue] }

    /// Returns the slots on the stack of the lane's owner, outermost first; empty where the host's own code was
    /// running, or the owner has no stack in the box.
    func stack() -> [UInt16] {
        guard self[.stack] > 0, self[.stack] <= UInt64(BlackBoxLayout.stacks) else { return [] }
        let start = layout.stack(Int(self[.stack]) - 1)
        let word = Ownership(bits: words[start])
        guard word.depth > 0, word.depth <= CallDepth.maximum, word.slot > 0 else { return [] }
        let slots = start + BlackBoxLayout.ownershipWords
        let outer = (1..<word.depth).map { depth in
            UInt16(truncatingIfNeeded: words[slots + depth / 4] >> UInt64(depth % 4 * 16))
        }
        return outer + [word.slot]
    }

    func module(_ slot: UInt16) -> ModuleID? {
        guard slot > 0, Int(slot) <= layout.capacity else { return nil }
        return name(of: Int(slot)).flatMap { try? ModuleID($0) }
    }

    func modules(where isMeant: (Int) -> Bool) -> [ModuleID] {
        (1...layout.capacity).filter(isMeant).compactMap { module(UInt16($0)) }
    }

    func modulesByRank() -> [ModuleID] {
        (1...layout.capacity)
            .filter { self[layout.rank($0)] > 0 }
            .compactMap { slot in module(UInt16(slot)).map { (self[layout.rank(slot)], $0) } }
            .sortedByNumber({ Int(clamping: $0.0) })
            .map(\.1)
    }

    func name(of slot: Int) -> String? {
        let start = slot * BlackBoxLayout.nameWords
        let count = names[start]
        guard count > 0, count <= UInt64(BlackBoxLayout.nameLimit) else { return nil }
        let bytes = (0..<Int(count)).map { index in
            UInt8(truncatingIfNeeded: names[start + 1 + index / 8] >> UInt64(index % 8 * 8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension BlackBox.Activity {
    private static let all: [BlackBox.Activity] =
        EventKind.allCases.map(BlackBox.Activity.event) + [.making, .release]

    /// The activity of a code; nil for 0 and any other number.
    init?(code: UInt64) {
        guard let activity = Self.all.first(where: { $0.code == code }) else { return nil }
        self = activity
    }

    /// The number that stands for it in a box, from 1: never reused for another in a later version.
    var code: UInt64 {
        switch self {
        case .making: 1
        case .release: 2
        case .event(let kind): kind.facts.code
        }
    }
}
