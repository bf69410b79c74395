import AppService
import Synchronization

/// A mapped file in the state directory that outlives the host: the ownership words, the current event, the
/// progress through the inbox, and the overdue modules.
///
/// The next host reads the last host's box (``previous``), reports which module was running when it died, and
/// continues the inbox from there. All notes are plain atomic stores into mapped memory: no system call, no
/// lock, no allocation, so that the lane can make them with each event. They are ordered: a store is never
/// seen without those before it, at whatever instant the process was killed. So each reader of a single note
/// can rely on earlier notes; the setters document the meaning of each instant.
///
/// `@unchecked Sendable`: the addresses never change, and the memory behind them is accessed by atomics
/// alone, except the names, which only one thread at a time writes (at launch, and in a reload).
package final class BlackBox: @unchecked Sendable {
    /// The end of the host that wrote a box.
    package enum State: UInt64, Hashable, Sendable {
        /// The host has not ended: it is running, or it died.
        case running = 1
        case ended
        /// The host ended as announced, and left modules behind that were busy.
        case overdue
    }

    package static let name = "blackbox"

    /// The contents of the last host's box; nil if there was none, or the file cannot be read.
    package let previous: Contents?
    /// The highest number of a slot for which there is room.
    package var capacity: Int { layout.capacity }

    let layout: BlackBoxLayout
    private let path: String
    private let file: MappedFile
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    /// Free stacks, one bit each.
    private let freeStacks = Guarded(UInt64.max >> (64 - BlackBoxLayout.stacks))

    /// Reads the last host's box, and creates a new one beside it.
    ///
    /// The new one takes the place of the old at ``begin()``: a host that dies before has changed nothing.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which this process has claimed.
    ///   - app: The name of the app.
    ///   - modules: How many modules there are. There is room for four times as many, and for 1024
    ///     at least, since reloads bring new ones.
    /// - Throws: ``FileError`` where there is no room for it, or it cannot be mapped.
    package init(
        in directory: StateDirectory, app: String, modules: Int = 0
    ) throws(FileError) {
        path = directory.path(of: Self.name)
        previous = Contents(in: directory)
        layout = BlackBoxLayout(capacity: max(1024, 4 * modules))
        file = try MappedFile(creating: path + ".new", size: layout.size)
        // New pages are zeros, which is how an atomic of value 0 looks.
        words = file.base.bindMemory(to: Atomic<UInt64>.self, capacity: layout.size / 8)
        let (started, boot) = (WallTime.now(), BootID.current)
        set(.form, layout.form)
        set(.processID, UInt64(UInt32(bitPattern: CurrentProcess.id)))
        set(.startedSeconds, UInt64(bitPattern: Int64(started.seconds)))
        set(.startedNanoseconds, UInt64(started.nanoseconds))
        set(.bootHigh, boot?.high ?? 0)
        set(.bootLow, boot?.low ?? 0)
        set(.file, file.number)
        setName(app, of: 0)
        setState(.running)
        set(.magic, BlackBoxLayout.magic)
    }

    /// Replaces the last host's box, atomically.
    ///
    /// Called once ``previous`` is processed, and before the first module is created.
    ///
    /// - Throws: ``FileError``, also where a folder has the name.
    package func begin() throws(FileError) { try file.take(placeOf: path) }

    /// Removes the last box for a host that cannot create its own: otherwise the old one would be taken for
    /// it.
    package static func remove(in directory: StateDirectory) {
        MappedFile.remove(directory.path(of: name))
        MappedFile.remove(directory.path(of: name + ".new"))
    }

    // MARK: The end

    /// Notes how the host has ended: the last of all notes.
    package func setState(_ state: State) { set(.state, state.rawValue) }

    // MARK: The inbox

    /// Notes the durable event that the lane begins to deliver; nil when every module was notified.
    ///
    /// The attempt is stored first: a reader of the position reads the attempt that belongs to it. If the
    /// host is killed before that, the event was not begun; if it is killed after, this attempt counts.
    ///
    /// - Parameters:
    ///   - position: The event; to be noted before the first module receives it. Nil only after
    ///     ``setNext(_:)`` has passed it.
    ///   - attempt: The number of the attempt, from 1.
    package func setInHand(_ position: EventPosition?, attempt: Int = 0) {
        if position != nil { set(.attempt, UInt64(clamping: attempt)) }
        set(.current, position?.rawValue ?? 0)
    }

    /// Notes the first event that the lane has not done.
    ///
    /// Stored when every module listed for the event before it has returned or thrown, or is noted as behind,
    /// and before ``setInHand(_:attempt:)`` with nil: if the host is killed between the two, the current
    /// event is done, since it lies before this position.
    package func setNext(_ position: EventPosition?) { set(.next, position?.rawValue ?? 0) }

    /// Notes the first durable event that an overdue module has not received; nil when it is not behind.
    ///
    /// Stored before the lane passes that event with ``setNext(_:)``, and, on the overdue module's own
    /// thread, advanced only when the module has returned. A slot for which there is no room (see
    /// ``capacity``) makes all positions of this box invalid, so that the box never claims too much.
    ///
    /// - Parameters:
    ///   - slot: The module's number.
    ///   - position: The event.
    ///   - begun: Whether the module was notified of that event already.
    package func setBehind(_ slot: UInt16, _ position: EventPosition?, begun: Bool = false) {
        guard has(slot) else { return set(.incomplete, 1) }
        let begunBit = begun ? Contents.begunBit : 0
        store(position.map { $0.rawValue | begunBit } ?? 0, at: layout.behind(Int(slot)))
    }

    /// Notes the last durable event of which a module that is behind was notified.
    ///
    /// The next host marks those up to it as repeated. One before that has no effect. Stored before the module is notified of the event, and before ``setBehind(_:_:begun:)``.
    func setNotified(_ slot: UInt16, _ position: EventPosition) {
        guard has(slot) else { return set(.incomplete, 1) }
        let word = words + layout.notified(Int(slot))
        // Only the lane's lock owner stores it.
        guard word.pointee.load(ordering: .relaxed) < position.rawValue else { return }
        word.pointee.store(position.rawValue, ordering: .releasing)
    }

    /// Notes a durable event whose delivery is over, and whose answer is to come; nil once the answer is there.
    ///
    /// Stored before the lane passes that event with ``setNext(_:)``. Without room for it, all positions of this
    /// box are invalid, as in ``setBehind(_:_:begun:)``.
    ///
    /// - Parameter begun: Whether this host has begun to deliver it; else an earlier one has.
    func setUnanswered(_ number: Int, _ position: EventPosition?, begun: Bool = false) {
        guard number < BlackBoxLayout.unanswered else { return set(.incomplete, 1) }
        let begunBit = begun ? Contents.begunBit : 0
        store(position.map { $0.rawValue | begunBit } ?? 0, at: layout.unanswered(number))
    }

    /// Notes the sequence number of the cursor file that the positions here continue.
    package func setCursorSequence(_ sequence: UInt64) { set(.cursorSequence, sequence) }

    // MARK: The modules

    /// Notes the work of the lane; nil for calls and everything else that is not an event.
    package func setActivity(_ activity: Activity?) { set(.activity, activity?.code ?? 0) }

    /// Gives a slot its name, before its module is entered for the first time.
    ///
    /// Notes about an earlier module with this number become invalid.
    package func setName(_ id: ModuleID, of slot: UInt16) {
        guard has(slot) else { return }
        store(0, at: layout.behind(Int(slot)))
        store(0, at: layout.notified(Int(slot)))
        store(0, at: layout.overdue(Int(slot)))
        store(0, at: layout.tasks(Int(slot)))
        store(0, at: layout.services(Int(slot)))
        setRank(slot, of: slot)
        setName(id.text, of: slot)
    }

    /// Notes the rank of a module in the order of response; before that, the rank is its number, and 0 stands
    /// for a module that no longer responds.
    ///
    /// Stored between two events.
    func setRank(_ rank: UInt16, of slot: UInt16) {
        if has(slot) { store(UInt64(rank), at: layout.rank(Int(slot))) }
    }

    /// Notes whether a module is overdue.
    func setOverdue(_ slot: UInt16, _ isOverdue: Bool) {
        if has(slot) { store(isOverdue ? 1 : 0, at: layout.overdue(Int(slot))) }
    }

    /// Notes that a module has registered a service, so that it needs this process.
    func noteServices(of slot: UInt16) {
        if has(slot) { store(1, at: layout.services(Int(slot))) }
    }

    /// Notes that start-up tasks of a module begin (1) or have ended (-1), off the lane.
    ///
    /// A task that is overdue counts as running until it ends.
    func count(tasksOf slot: UInt16, _ difference: Int) {
        guard has(slot) else { return }
        (words + layout.tasks(Int(slot))).pointee.wrappingAdd(
            UInt64(bitPattern: Int64(difference)), ordering: .releasing)
    }

    // MARK: The lane

    /// Returns room for the ownership word and the stack of one of the lane's threads, which is free again when the
    /// result is released.
    ///
    /// - Returns: Nil where all stacks are in use.
    func makeStack() -> Stack? {
        let number = freeStacks.withLock { free -> Int? in
            guard free != 0 else { return nil }
            let number = free.trailingZeroBitCount
            free &= ~(1 << UInt64(number))
            return number
        }
        return number.map { Stack(box: self, number: $0) }
    }

    /// Notes the stack of the lane's owner; called while its word is at depth 0.
    func setStack(_ stack: Stack?) { set(.stack, stack.map { UInt64($0.number + 1) } ?? 0) }

    /// The stack of one of the lane's threads.
    final class Stack: Sendable {
        private let box: BlackBox
        fileprivate let number: Int

        fileprivate init(box: BlackBox, number: Int) {
            self.box = box
            self.number = number
        }

        deinit { box.freeStacks.withLock { [number] in $0 |= 1 << UInt64(number) } }

        /// The address of the thread's ownership word.
        var ownership: OwnershipWord.Address { box.words + box.layout.stack(number) }

        /// The slots' numbers by depth.
        var address: UnsafeMutablePointer<Atomic<UInt16>> {
            UnsafeMutableRawPointer(ownership + BlackBoxLayout.ownershipWords)
                .assumingMemoryBound(to: Atomic<UInt16>.self)
        }
    }

    // MARK: Storing

    private func has(_ slot: UInt16) -> Bool { slot > 0 && Int(slot) <= layout.capacity }

    private func set(_ word: BlackBoxLayout.Word, _ value: UInt64) {
        store(value, at: word.rawValue)
    }

    /// Stores with release ordering, so that the compiler and the processor keep the order of the stores.
    private func store(_ value: UInt64, at index: Int) {
        (words + index).pointee.store(value, ordering: .releasing)
    }

    /// Stores a name with its length last: a name that was cut off in the middle has no length and is never
    /// read.
    private func setName(_ name: String, of slot: UInt16) {
        let start = layout.name(Int(slot))
        let bytes = Array(name.utf8.prefix(BlackBoxLayout.nameLimit))
        store(0, at: start)
        for (index, first) in stride(from: 0, to: bytes.count, by: 8).enumerated() {
            let part = bytes[first..<min(first + 8, bytes.count)]
            let word = part.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            store(word, at: start + 1 + index)
        }
        store(UInt64(bytes.count), at: start)
    }
}

/// The kernel's id of this boot of the machine.
struct BootID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The current boot; nil where the system does not report it.
    static var current: BootID? {
        (try? readFile(at: "/proc/sys/kernel/random/boot_id", limit: 64)).flatMap(BootID.init)
    }

    /// - Parameter text: 32 hexadecimal digits, with hyphens anywhere.
    init?(_ text: some Sequence<UInt8>) {
        let digits = text.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
        guard digits.count == 32,
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// - Returns: Nil for zeros, which stand for no id.
    init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }
}
