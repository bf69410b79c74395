import AppService
import Dispatch
public import Synchronization

/// The host's serial executor, from which all module code is entered: a thread that processes a list of jobs.
///
/// Jobs lie on the heap and not in a Dispatch queue, since blocks behind a stuck one could not be moved. The
/// ``OwnershipWord`` of the thread that owns the lane states which responder is current. When it does not move for a
/// deadline, the ``Watchdog`` takes the lane from that thread, and a new one goes on with the next responder; the old
/// one is *overdue* until it returns and has received what waits for it.
///
/// A thread that lost the lane still runs code of the lane, and detects the loss when it next moves its word.
@usableFromInline
final class Lane: Sendable {
    /// The black box; nil for a host without one.
    let box: BlackBox?
    /// A number that changes with the status of any slot, so that a list that was in order at one epoch need
    /// not read its slots while the epoch stays the same.
    @usableFromInline let epoch: Atomic<UInt64> = Atomic(0)
    /// The owner as unmanaged bits; ``State/threads`` keeps every owner alive.
    let owner = Atomic<UInt>(0)
    let state: Guarded<State>
    /// Whether a module may have as many events to answer as it can, for the lane alone.
    let mayBeFull = Atomic(false)
    let delegate: any LaneDelegate
    let watchdog: Watchdog
    /// The counts of what modules did.
    let counts = DeliveryCounts()
    private let input: (any LaneInput)?
    private let afterEnd = DispatchQueue(label: "modulehost.lane.after-end")

    /// Creates a lane.
    ///
    /// The lane does nothing before ``start()``.
    init(
        limits: Watchdog.Limits, time: any TimeSource, delegate: any LaneDelegate,
        box: BlackBox? = nil, input: (any LaneInput)? = nil
    ) {
        self.input = input
        self.box = box
        let stack = box?.makeStack()
        let first = LaneThread(at: Ownership(bits: 0), stack: stack)
        box?.setStack(stack)
        var mailboxes = Mailboxes(box: box)
        mailboxes.note = delegate.noteUndelivered
        state = Guarded(State(first, mailboxes))
        self.delegate = delegate
        watchdog = Watchdog(limits: limits, time: time)
        setOwner(first)
    }

    /// Starts the lane's thread.
    ///
    /// - Throws: ``SystemError`` where the system has no room for a thread.
    func start() throws(SystemError) {
        let thread = state.withLock { $0.thread }
        try NativeThread.start(name: "lane") { [self] in run(on: thread) }
    }

    /// Registers a module's slot with the lane, so that the word can be mapped to it.
    func register(_ slot: ModuleSlot) {
        if let id = slot.id { box?.setName(id, of: slot.number) }
        counts.reset(slot.number)
        state.withLock { $0.slots[slot.number] = slot }
    }

    /// Registers the slot of a module that is made while the app runs: it receives the events that begin from now on,
    /// and not the current one, whose delivery a takeover may begin again behind it.
    func registerNew(_ slot: ModuleSlot) {
        // A place is registered before its module is made: its note in the black box says by then what waits for it.
        if self.slot(slot.number) !== slot { register(slot) }
        box?.setRank(slot.rank, of: slot.number)
        state.withLock { state in
            if state.current?.event != nil { state.mailboxes.begin(slot) }
        }
    }

    /// Unregisters a module's slot; its number is free for another one when the last reference to the slot is
    /// released.
    ///
    /// No thread may be overdue with the slot any more.
    func unregister(_ slot: ModuleSlot) {
        state.withLock { state in
            state.slots[slot.number] = nil
            state.mailboxes.forget(slot)
            state.mailboxes.release(slot)
            state.retired.append(Retired(slot: slot, number: slot.number))
        }
    }

    /// Returns numbers for new slots, the lowest that are free.
    ///
    /// - Returns: Fewer than requested where there are no more.
    func vacantNumbers(_ count: Int) -> [UInt16] {
        state.withLock { state in
            state.dropReleased()
            let retired = Set(state.retired.map(\.number))
            var numbers: [UInt16] = []
            for number in state.firstVacant...UInt16.max {
                if numbers.count == count { break }
                if state.slots[number] == nil, !retired.contains(number) { numbers.append(number) }
            }
            if let first = numbers.first { state.firstVacant = first }
            return numbers
        }
    }

    /// Returns the slot with a number; nil for the host itself.
    func slot(_ number: UInt16) -> ModuleSlot? { state.withLock { $0.slots[number] } }

    // MARK: Jobs

    /// Adds a job at the end of the list.
    ///
    /// From any thread.
    func enqueue(_ job: any LaneJob) {
        if !list({ $0.append(job) }) { job.abandon() }
    }

    /// Adds a job before all others.
    ///
    /// From any thread.
    func enqueueFirst(_ job: any LaneJob) {
        if !list({ $0.prepend([job]) }) { job.abandon() }
    }

    /// Adds jobs at the end of the list, in their order and with nothing between them.
    ///
    /// From any thread. Wakes the lane's thread once, and not for each of them.
    func enqueue(_ jobs: [any LaneJob]) {
        if !list({ for job in jobs { $0.append(job) } }) { for job in jobs { job.abandon() } }
    }

    /// Adds to the list, and wakes the lane's thread where it sleeps.
    ///
    /// - Returns: False where the lane is closed: nothing was added.
    private func list(_ add: (inout Deque<any LaneJob>) -> Void) -> Bool {
        let verdict = state.withLock { state -> (accepted: Bool, wake: LaneThread?) in
            guard !state.isClosed else { return (false, nil) }
            add(&state.jobs)
            return (true, state.wakeUp())
        }
        rouse(verdict.wake)
        return verdict.accepted
    }

    private func rouse(_ thread: LaneThread?) {
        guard let thread else { return }
        if let input { input.rouse() } else { thread.wake.signal() }
    }

    /// Adds host code at the end of the list.
    ///
    /// From any thread.
    func enqueue(
        limit: DeliveryLimit = .event, _ body: @escaping @Sendable (LaneThread) -> Void
    ) {
        enqueue(LaneWork(limit: limit, body: body))
    }

    /// Adds jobs before all others, in their order.
    ///
    /// On the lane.
    func prepend(_ jobs: [any LaneJob]) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.prepend(jobs) }
            return state.isClosed
        }
        if isClosed { for job in jobs { job.abandon() } }
    }

    /// Runs `body` on the lane once its list is empty.
    ///
    /// From any thread.
    func whenIdle(_ body: @escaping @Sendable (LaneThread) -> Void) {
        let wake = state.withLock { state -> LaneThread? in
            guard !state.isClosed else { return nil }
            state.idleJobs.append(LaneWork(body: body))
            return state.wakeUp()
        }
        rouse(wake)
    }

    /// Assigns an event its position.
    ///
    /// On the lane, before any module receives it.
    func accept(_ event: inout LifecycleEvent) {
        state.withLock { $0.mailboxes.accept(&event) }
    }

    /// Removes droppable jobs that stand in the list before a given job.
    ///
    /// The caller abandons the removed jobs.
    ///
    /// - Parameters:
    ///   - end: Returns whether a job is the given one. Where it is not listed any more, nothing is removed.
    ///   - note: Called with each job that is removed, before the lane goes on; under its lock.
    /// - Returns: The jobs, in their order.
    func dropBacklog(
        before end: @Sendable (any LaneJob) -> Bool,
        noting note: @Sendable (any LaneJob) -> Void
    ) -> [any LaneJob] {
        state.withLock { state in
            let dropped = state.jobs.remove(before: end, where: \.isDroppable)
            for job in dropped { note(job) }
            return dropped
        }
    }

    /// Ends the lane once the current job is done.
    ///
    /// Jobs that are still listed are abandoned.
    ///
    /// - Returns: These jobs. To release very many takes seconds; the caller decides when.
    @discardableResult
    func close() -> [any LaneJob] {
        let (left, current, wake) = state.withLock {
            state -> ([any LaneJob], (any LaneJob)?, LaneThread?) in
            state.isClosed = true
            let left = state.jobs.removeAll() + state.idleJobs.removeAll()
            return (left, state.current, state.wakeUp())
        }
        rouse(wake)
        current?.abandonInHand()
        for job in left { job.abandon() }
        watchdog.stop()
        return left
    }

    /// Runs `body` on the lane while the calling thread, which is not the lane's, waits for it.
    ///
    /// The lane never waits for the thread that waits here, so no deadlock can form.
    ///
    /// - Returns: nil where the lane was closed first.
    func serve<Result>(_ body: (LaneThread) -> Result) -> Result? {
        withoutActuallyEscaping(body) { body in
            let request = ServedRequest(body)
            enqueue(request)
            return request.wait()
        }
    }

    /// Returns the event that the lane, or an overdue module's own thread, is delivering to `slot`.
    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent? {
        state.withLock { state in
            // An asynchronous handler knows its own: see ``HandledEvent``.
            state.mailboxes.isOverdue(slot)
                ? state.mailboxes[slot]?.mail.event : state.current?.currentEvent
        }
    }

    /// The oldest event that a module has to answer; nil for none.
    func oldestOpenEvent(of slot: ModuleSlot) -> LifecycleEvent? {
        state.withLock { $0.mailboxes[slot]?.mail.open.oldest }
    }

    /// The trace that the code of a module on the calling thread is a part of; nil for none.
    var currentTrace: TraceContext? {
        if let trace = HandledEvent.current?.event.trace ?? TraceContext.current { return trace }
        if hold != nil { return state.withLock { $0.current?.trace } }
        // Another thread has nothing to do with what the lane does.
        return overdueSlot.flatMap { currentEvent(of: $0)?.trace }
    }

    // MARK: Threads

    /// Processes jobs on the calling thread, as the lane's owner, until it loses the lane or the lane is
    /// closed.
    ///
    /// - Parameter thread: The calling thread.
    func run(on thread: LaneThread) {
        thread.identity.store(NativeThread.current, ordering: .relaxed)
        work(on: thread)
    }

    private func work(on thread: LaneThread) {
        while owns(thread), let job = next(thread) {
            job.run(on: thread, after: 0)
        }
        if owns(thread) {
            delegate.closed(on: thread)
            // The system may give the identity of this thread to another one.
            owner.store(0, ordering: .releasing)
            end()
        } else {
            catchUp(on: thread)
        }
    }

    private func end() {
        let work = state.withLock { state in
            state.hasEnded = true
            defer { state.afterEnd = [] }
            return state.afterEnd
        }
        for each in work { runAfterEnd(each) }
    }

    /// Runs code of modules that is left when the lane was closed: once no thread of the lane runs any more, one
    /// piece after the other, on a queue of its own.
    func runAfterEnd(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.afterEnd.append(body) }
            return state.hasEnded
        }
        if hasEnded { afterEnd.async(execute: body) }
    }

    /// Goes on where another thread was stuck.
    private func resume(_ resumption: Resumption, on thread: LaneThread) {
        delegate.tookOver(resumption.report, on: thread)
        resumption.report.job?.run(on: thread, after: resumption.slot)
    }

    /// Returns the next job, waiting for one where there is none; nil once the lane is closed or lost.
    private func next(_ thread: LaneThread) -> (any LaneJob)? {
        while true {
            // A job may contain the last reference to a module: it is released outside the lock.
            let (step, _) = state.withLock { $0.nextStep() }
            switch step {
            case .run(let job):
                watchdog.arm(for: self)
                return job
            case .resume(let resumption):
                resume(resumption, on: thread)
                guard owns(thread) else { return nil }
            case .end: return nil
            case .sleep: sleep(thread)
            }
        }
    }

    /// Waits for jobs, and takes other input.
    private func sleep(_ thread: LaneThread) {
        guard let input else { return thread.wake.wait() }
        guard input.wait() else { return }
        state.withLock { $0.isAsleep = false }
        input.take()
    }
}
