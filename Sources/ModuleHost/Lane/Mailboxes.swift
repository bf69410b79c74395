import Synchronization

/// The mailboxes of the modules that are behind, with the taker of each: a module that is overdue goes on with its mail on
/// a thread of its own, one with an event to answer when the answer comes, and for one that has failed it waits.
///
/// Guarded by the lane's lock.
struct Mailboxes {
    /// Called with the durable events that a module has not received; nil where there are none any more.
    ///
    /// Under the lane's lock, before any other thread goes on.
    var note: @Sendable (ModuleSlot, UndeliveredEvents?) -> Void = { _, _ in }

    let box: BlackBox?
    let memory = MailboxMemory()
    /// The mailboxes, by the numbers of their slots.
    var entries: [UInt16: Entry] = [:]
    /// The numbers of the modules that are behind: many others may have failed, whose mailboxes need not be looked at for these.
    private var behind: Set<UInt16> = []
    /// Whether the app stops: a module is notified of the shutdown events behind the one that it has not answered.
    private(set) var isStopping = false
    /// The ranges dropped for modules that were too far behind, until they are in the dead letters.
    var droppedRanges: [DroppedRange] = []
    /// The position that the next event gets.
    private var head: UInt64 = 0
    /// The durable event that is being delivered; nil for none.
    private var inHand: LifecycleEvent?
    /// For modules that are listed again: the position before which they have received all events.
    private var told: [UInt16: UInt64] = [:]
    private var turns = 0
    /// The last event that was put, for the mailboxes that it is put into next.
    private var newest: KeptEvent?

    /// - Parameter box: The black box, where overdue modules are noted; nil for none.
    init(box: BlackBox? = nil) { self.box = box }

    // MARK: Looking

    /// The mailbox of a module; nil where nothing waits for it.
    subscript(slot: ModuleSlot) -> Entry? {
        entries[slot.number].flatMap { $0.slot === slot ? $0 : nil }
    }

    /// The slots of the overdue modules, in the order in which they became overdue.
    var overdueSlots: [ModuleSlot] {
        var all: [(turn: Int, slot: ModuleSlot)] = []
        for entry in entriesBehind {
            if case .thread(_, let turn) = entry.taker { all.append((turn, entry.slot)) }
        }
        return all.sorted { $0.turn < $1.turn }.map(\.slot)
    }

    /// The modules that are behind and not overdue.
    var openSlots: [ModuleSlot] { entriesBehind.filter(\.isAnswerAwaited).map(\.slot) }

    private var entriesBehind: [Entry] { behind.compactMap { entries[$0] } }

    func isBehind(_ slot: ModuleSlot) -> Bool { self[slot]?.isBehind == true }

    func isOverdue(_ slot: ModuleSlot) -> Bool { self[slot]?.taker.thread != nil }

    /// Returns whether a module has an event that it has not answered, and no thread waits for that.
    func isOpen(_ slot: ModuleSlot) -> Bool {
        self[slot].map { $0.isAnswerAwaited && $0.mail.isOut } == true
    }

    /// Returns whether a module has events that it has not answered.
    func isOut(_ slot: ModuleSlot) -> Bool { self[slot]?.mail.isOut == true }

    /// Returns the number of events that wait for an overdue module; nil for one that is not overdue.
    ///
    /// Events that were dropped for it are not counted.
    func behind(_ slot: ModuleSlot) -> Int? {
        self[slot].flatMap { $0.taker.thread == nil ? nil : $0.mail.count }
    }

    /// Returns the position before which a module that is listed again has received all events.
    func told(_ slot: ModuleSlot) -> UInt64 { told[slot.number] ?? 0 }

    // MARK: Events

    /// Assigns its position to an event.
    ///
    /// A durable one waits at once for the modules that have failed: they are in no list of receivers.
    mutating func accept(_ event: inout LifecycleEvent) {
        event.sequence = head
        head += 1
        (newest, inHand) = (nil, event.entry == nil ? nil : event)
        guard let entry = event.entry else { return }
        for slot in heldSlots where event.isFor(slot.id) {
            let isFirst = self[slot]?.mail.backlog.first == nil
            entries[slot.number]?.mail.backlog.append(entry)
            if isFirst { noteUndelivered(slot) }
        }
    }

    /// Puts an event into the mailbox of a module that is behind, and that it is for.
    ///
    /// Beyond the limits the oldest events are dropped, or stay in the inbox alone. A module that is not overdue is to
    /// answer before that where the oldest is in no inbox: see ``full``.
    ///
    /// - Returns: Whether that is so.
    @discardableResult
    mutating func put(_ event: LifecycleEvent, for slot: ModuleSlot) -> Bool {
        guard isBehind(slot) else { return false }
        let kept =
            newest.flatMap { $0.event.sequence == event.sequence ? $0 : nil }
            ?? KeptEvent(event, in: memory)
        newest = kept
        let number = slot.number
        let isFirst = self[slot]?.mail.first == nil
        guard entries[number]?.mail.put(kept) == true else { return false }
        if isFirst, event.entry != nil { noteUndelivered(slot) }
        let (limit, waits) = (slot.backlog, self[slot]?.waitsWhenFull == true)
        while entries[number]?.mail.isOver(limit, of: memory) == true {
            if waits, entries[number]?.mail.isFirstInInbox == false { return true }
            entries[number]?.mail.spill()
        }
        return false
    }

    /// A module that is not overdue, and for which more events wait than may, the first of which is in no inbox: it is to
    /// answer before there is another one.
    var full: ModuleSlot? {
        entriesBehind.first { entry in
            entry.waitsWhenFull && entry.slot.isListed && !entry.mail.isFirstInInbox
                && entry.mail.isOver(entry.slot.backlog, of: memory)
        }?.slot
    }

    /// Removes the first event that waits for a module from those in memory: a durable one waits in the inbox alone then, any
    /// other is dropped.
    ///
    /// - Returns: The event; nil where none waits.
    mutating func removeFirst(of slot: ModuleSlot) -> LifecycleEvent? {
        self[slot] == nil ? nil : entries[slot.number]?.mail.spill()
    }

    /// Notes that the delivery of an event is over.
    ///
    /// - Parameter event: The event. One that modules claim is none of those that a module is to receive which the search asked
    ///   directly, or did not reach.
    mutating func endDelivery(of event: LifecycleEvent) {
        inHand = nil
        guard event.kind.isClaimed, let entry = event.entry else { return }
        let unreached = behind.filter { number in
            entries[number].map { $0.slot.isListed && $0.mail.reached <= event.sequence } == true
        }
        for number in unreached { entries[number]?.mail.pass(entry) }
    }

    /// Returns the durable event that is being delivered, where it is for a module that is behind and that it has yet to reach.
    func eventInHand(for slot: ModuleSlot) -> InboxEntry? {
        guard let event = inHand, event.isFor(slot.id),
            self[slot].map({ $0.mail.reached <= event.sequence }) == true
        else { return nil }
        return event.entry
    }

    // MARK: Overdue modules

    /// Makes the modules on a stuck thread overdue.
    ///
    /// The outermost one has received the current event, and so have those before it in the order. A module
    /// after it was merely called: the event is put into its mailbox, as into that of any other.
    ///
    /// - Parameters:
    ///   - slots: The modules, outermost first.
    ///   - thread: The thread.
    ///   - job: The current job.
    ///   - isYield: Whether the innermost yielded the lane itself: then it waits for its process, and is not
    ///     the cause of a death of the host.
    mutating func add(
        _ slots: [ModuleSlot], of thread: LaneThread, job: (any LaneJob)?, isYield: Bool = false
    ) {
        for slot in slots where !isOverdue(slot) {
            let (isFirst, number) = (slot === slots.first, slot.number)
            let entry = self[slot] ?? Entry(slot)
            if entry.isBehind {
                // Not a search of which it was asked while it has another event to answer.
                if isFirst, let event = job?.event, entry.mail.reached > event.sequence {
                    entry.mail.begin(event.entry)
                }
            } else {
                entry.mail.tell(job?.currentEvent, begun: isFirst ? job?.durableEvent : nil)
                // It may have received the current event already, when it was overdue before.
                if let told = told.removeValue(forKey: number), told > 0 {
                    entry.mail.skip(told - 1)
                }
                if let event = job?.event, let outermost = slots.first, slot.rank <= outermost.rank
                {
                    entry.mail.skip(event.sequence)
                }
                // What a stop has left to the next host is that one's.
                if !isStopping, slot.isListed { entry.isHeld = false }
            }
            entries[number] = entry
            setTaker(.thread(thread, turn: turns), of: slot)
            turns += 1
            noteUndelivered(slot)
            if !isYield || slot !== slots.last { box?.setOverdue(number, true) }
            if slot.isListed { slot.status.store(.overdue, ordering: .releasing) }
        }
    }

    /// Notes that a new module has nothing to receive of the events before the next one.
    mutating func begin(_ slot: ModuleSlot) {
        told[slot.number] = head
        slot.status.store(.rejoined, ordering: .releasing)
    }

    mutating func forget(_ slot: ModuleSlot) { told[slot.number] = nil }

    mutating func `defer`(for slot: ModuleSlot, _ work: DeferredWork) -> Bool {
        guard isOverdue(slot), self[slot]?.isLeftBehind == false else { return false }
        entries[slot.number]?.deferred.append(work)
        return true
    }

    /// Returns work that is left for an overdue module when its thread ends, since the lane was closed; nil once there
    /// is none, and then no more is deferred.
    ///
    /// The module still counts as overdue: it has not received all events.
    mutating func leaveBehind(_ slot: ModuleSlot, on thread: LaneThread) -> DeferredWork? {
        guard self[slot]?.taker.thread === thread else { return nil }
        if let work = entries[slot.number]?.deferred.popFirst() { return work }
        entries[slot.number]?.isLeftBehind = true
        return nil
    }

    // MARK: Going on

    /// Returns the next step of a module that is behind; nil once it is not behind any more, or goes on elsewhere.
    ///
    /// The module has received everything and stops being behind in one step, under the lock under which the lane puts the next
    /// event.
    ///
    /// - Parameter thread: The thread of an overdue module; nil for one that has answered, on the lane.
    mutating func next(for slot: ModuleSlot, on thread: LaneThread?) -> Step? {
        let number = slot.number
        // A module that stopped being overdue may soon be overdue again, on another thread.
        guard isBehind(slot), self[slot]?.taker.thread === thread else { return nil }
        guard slot.isListed else {
            if let work = entries[number]?.deferred.popFirst() { return .dropped(work) }
            endTaking(slot)
            return nil
        }
        let hadEvent = entries[number]?.mail.event != nil
        entries[number]?.mail.returned()
        if let work = entries[number]?.deferred.popFirst() {
            noteUndelivered(slot)
            return .deferred(work)
        }
        if entries[number]?.isHeld == false, let place = entries[number]?.mail.backlog.first,
            entries[number]?.mail.mayRead(window: slot.window) == true,
            !isStopping || entries[number]?.mail.isOut == false
        {
            noteUndelivered(slot)
            return .read(place)
        }
        if let event = takeNext(of: slot, on: thread) { return .event(event) }
        if entries[number]?.mail.isOut == true {
            if hadEvent || thread != nil { noteUndelivered(slot) }
            guard thread != nil else { return nil }
            awaitAnswer(of: slot)
            return .open
        }
        if thread != nil { told[number] = entries[number]?.mail.reached }
        let missed = entries[number]?.mail.missed ?? 0
        endTaking(slot, isRejoined: thread != nil)
        return .rejoined(missed: missed)
    }

    private mutating func takeNext(of slot: ModuleSlot, on thread: LaneThread?) -> LifecycleEvent? {
        let number = slot.number
        // What waits in the inbox alone stands before that.
        let (isStopping, isHeld) = (isStopping, entries[number]?.isHeld == true)
        let isFirst = isHeld || entries[number]?.mail.backlog.first == nil
        guard isFirst || entries[number]?.mail.open.hasDue == true else { return nil }
        // In a stop the durable rest is the next host's, and an own thread leaves no gap in it.
        var event = entries[number]?.mail.takeNext(window: slot.window) { event in
            isStopping && event.kind.stateChange == nil
                && (thread == nil || isHeld && event.entry != nil)
        }
        if isStopping, thread == nil {
            if self[slot]?.mail.backlog.first != nil { hold(slot) }
            // An asynchronous handler is a hold then.
            let isStep = event?.kind.stateChange != nil
            event?.laterAnswers = isStep ? .processes : .none
        }
        if event != nil { noteUndelivered(slot) }
        return event
    }

    /// Takes an event that was read from the inbox for an overdue module.
    ///
    /// - Parameters:
    ///   - entry: The entry of the event; nil where there is nothing more to read.
    ///   - event: The event; nil where the entry is not an event.
    ///   - slot: The module's slot.
    ///   - thread: The module's thread.
    /// - Returns: The event that the module is to receive; nil for none.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for slot: ModuleSlot, on thread: LaneThread
    ) -> LifecycleEvent? {
        guard self[slot]?.taker.thread === thread else { return nil }
        // It may have failed meanwhile: the events are for its next instance then.
        guard slot.isListed, self[slot]?.isHeld == false else { return nil }
        defer { noteUndelivered(slot) }
        return entries[slot.number]?.mail.take(entry, event, for: slot.id, window: slot.window)
    }

    /// Ends the taking from a mailbox; it is gone where nothing is held in it.
    ///
    /// - Parameter isRejoined: Whether the lane is to check which events the module has received already.
    mutating func endTaking(_ slot: ModuleSlot, isRejoined: Bool = false) {
        let number = slot.number
        let isOverdue = isOverdue(slot)
        // Before the note: from then on the lane notes the module's progress itself.
        if slot.isListed {
            slot.status.store(isRejoined ? .rejoined : .listed, ordering: .releasing)
        }
        setTaker(.unattended, of: slot)
        entries[number]?.mail.forgetOpen()
        noteUndelivered(slot)
        if isOverdue { box?.setOverdue(number, false) }
        if self[slot]?.isHeld == false { entries[number] = nil }
        if entries.isEmpty { newest = nil }
    }

    /// Makes another one take from a mailbox.
    mutating func setTaker(_ taker: Taker, of slot: ModuleSlot) {
        entries[slot.number]?.taker = taker
        if case .unattended = taker {
            behind.remove(slot.number)
        } else {
            behind.insert(slot.number)
        }
    }

    /// Makes a stop leave what waits for modules that are not overdue to the next host, the durable events; the others are dropped.
    ///
    /// - Returns: The number of events that are dropped, and of those that the next host delivers.
    mutating func stop() -> (dropped: Int, durable: Int) {
        isStopping = true
        var (dropped, durable) = (0, 0)
        for slot in openSlots where slot.isListed {
            let isPaused = isPaused(slot)
            dropped += leaveRest(of: slot)
            // What it wants later it was not slow with.
            if let entry = self[slot], entry.isHeld, !isPaused {
                durable += entry.mail.backlog.count
            }
        }
        return (dropped, durable)
    }
}
