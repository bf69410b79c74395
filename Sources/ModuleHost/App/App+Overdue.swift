import AppService
import Synchronization

/// Handling modules that overrun their deadlines.
extension App {
    /// Reports modules that became overdue.
    ///
    /// The lane goes on without them.
    func overdue(_ report: TakeoverReport) {
        noteOverdue(report, in: report.slots.first.map { place(of: report, $0) } ?? "")
        reportHealth()
        services.forgetMaking()
        if report.slots.isEmpty, let id = report.unloaded {
            log.of(module: id.text).error(
                "unresponsive after it was unloaded: one of its tasks did not return in time; "
                    + "delivery continues without it")
        }
        guard let overdue = report.slots.last, let outermost = report.slots.first else { return }
        let what = place(of: report, outermost)
        let callers = report.slots.dropLast().compactMap(\.id?.text)
        let chain =
            callers.isEmpty
            ? "" : ", called by \(callers.reversed().joined(separator: ", called by "))"
        // A module that called the overdue one was not logged yet.
        let isQuiet = report.cause == .repeatedYield && callers.isEmpty
        // A quiet one has given the lane away itself: its process ends in order, or floods again, or it catches up after
        // a restart.
        if !isQuiet { metrics.withLock { $0.timesOverdue += report.slots.count } }
        let hanging = !phase.isEnding ? report.slots.filter(isInInit) : []
        switch report.cause {
        // The log line of its failure is sufficient: it has nothing to catch up with.
        case .overdue where !hanging.isEmpty && callers.isEmpty: break
        case .overdue:
            log.of(module: overdue.id?.text ?? "").write(
                .error,
                "unresponsive\(chain): delivery continues without it; missed events are delivered when it returns",
                event: what)
        case .yield,
            .repeatedYield where !isQuiet:
            log.of(module: overdue.id?.text ?? "").warning(
                "unresponsive\(chain) for now: delivery continues without it")
        case .repeatedYield: break
        }
        if !isQuiet, case let health = health, health.isUnhealthy {
            log.error(
                "unhealthy: \(health.overdue.count) of \(health.modules) modules are unresponsive")
        }
        leaveOpenEvents(of: report.slots, in: report.job)
        for slot in report.slots {
            reloads.current?.tookTooLong(slot)
            guard let record = record(of: slot) else { continue }
            record.isQuietlyOverdue = isQuiet
            if record.life == .making, !phase.isEnding {
                failedToMake(record, tooLate)
            } else if report.job?.event?.kind == .launch, record.entry.isRequired {
                markFailed(record, "launch", tooLate)
            }
        }
    }

    /// Returns whether a module's `init` is running, also for a module created for a reload.
    private func isInInit(_ slot: ModuleSlot) -> Bool {
        (record(of: slot) ?? reloads.current?.staged(of: slot))?.life == .making
    }

    /// The error of a module that did not return from `init` or `launch`: in a stop, it may have had less time than its
    /// deadline.
    private var tooLate: TooLate {
        TooLate(limit: gate.lane.watchdog.lastOverrun ?? slatefile.deadlines.launch)
    }

    private func place(of report: TakeoverReport, _ slot: ModuleSlot) -> String {
        if let event = event(of: report, slot) { return event.kind.rawValue }
        guard let record = record(of: slot) else { return "call" }
        if record.life == .making { return "init" }
        return phase.isEnding ? "release" : "call"
    }

    /// Handles an error that a module threw on a thread that had lost the lane.
    func failedOverdue(_ slot: ModuleSlot, in event: LifecycleEvent?, _ error: any Error) {
        countFailure(of: slot)
        if let record = record(of: slot), !record.isFailed,
            event?.kind == .launch || record.isInLateLaunch
        {
            return markFailed(record, "launch", error)
        }
        log.failedOverdue(slot, in: event, error)
    }

    /// Reports a module that was overdue and has caught up.
    func rejoined(_ slot: ModuleSlot, missed: Int) {
        noteRejoined(slot, missed: missed)
        reportHealth()
        let record = record(of: slot)
        record?.isolated?.noteLevel()
        launch.openRefusedRoot(after: slot.id)
        if let record {
            endMakingLate(of: record)
            onDemand.starts.isLevel(record.id)
        }
        if missed == 0, record?.isQuietlyOverdue == true { return }
        log.rejoined(slot, missed: missed)
    }
}

extension Log {
    /// Logs an error that a module threw on a thread that had lost the lane.
    fileprivate func failedOverdue(
        _ slot: ModuleSlot, in event: LifecycleEvent?, _ error: any Error
    ) {
        of(module: slot.id?.text ?? "").write(
            .error, "failed after its deadline: \(error)", event: event?.kind.rawValue)
    }

    /// Logs that a module that was overdue has caught up.
    fileprivate func rejoined(_ slot: ModuleSlot, missed: Int) {
        let log = of(module: slot.id?.text ?? "")
        guard missed > 0 else { return log.notice("responsive again: it has caught up") }
        log.warning(
            "responsive again: it missed \(missed) events, more than its backlog of \(slot.backlog) "
                + "or \(Mailbox.Limit.bytes >> 20) MiB")
    }
}

/// The error of a module that did not return in time.
struct TooLate: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "it did not return within \(limit.briefText)" }
}

/// The reports of a lane to the app of a host.
///
/// Does not keep the host alive.
struct LaneReports: LaneDelegate {
    private let reference: WeakHost
    private let role: any AppRole
    private let inbox: Inbox?

    init(to reference: WeakHost, role: any AppRole, inbox: Inbox?) {
        self.reference = reference
        self.role = role
        self.inbox = inbox
    }

    private func app(on thread: LaneThread) -> App? { reference.host?.app.open(on: thread) }

    func reportUnresponsive() -> Bool { role.reportUnresponsive() }

    func tookOver(_ report: TakeoverReport, on thread: LaneThread) {
        app(on: thread)?.overdue(report)
    }

    func rejoined(_ slot: ModuleSlot, missed: Int, on thread: LaneThread) {
        app(on: thread)?.rejoined(slot, missed: missed)
    }

    func rejoinedAtEnd(_ slot: ModuleSlot, missed: Int) {
        reference.host?.log.rejoined(slot, missed: missed)
    }

    func returned(on thread: LaneThread) { app(on: thread)?.returned() }

    func closed(on thread: LaneThread) { reference.takeApp()?.open(on: thread).leaveBehind() }

    func deliverOverdue(
        _ event: LifecycleEvent, to slot: ModuleSlot, _ members: inout OverdueMembers?
    ) -> Bool {
        reference.host?.deliverOverdue(event, to: slot, &members) ?? false
    }

    func readOverdue(at position: EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) {
        inbox?.read(at: position) ?? (nil, nil)
    }

    /// Not through the host: it must not be deallocated under the lane's lock.
    func noteUndelivered(_ slot: ModuleSlot, _ events: UndeliveredEvents?) {
        inbox?.note(slot, events)
    }

    func hasNoThread(besides slot: ModuleSlot?, _ error: SystemError) {
        reference.host?.hasNoThread(besides: slot, error)
    }

    func failed(_ slot: ModuleSlot, _ error: any Error) { reference.host?.failed(slot, error) }

    func failedOverdue(_ slot: ModuleSlot, _ error: any Error) {
        reference.host?.failedOverdue(slot, error)
    }
}

extension AppHost {
    fileprivate func hasNoThread(besides slot: ModuleSlot?, _ error: SystemError) {
        log.of(module: slot?.id?.text ?? "").write(
            .error,
            "unresponsive, and delivery waits for it: no thread can be started to continue without it: \(error)",
            event: slot.flatMap { gate.lane.currentEvent(of: $0)?.kind.rawValue })
    }

    fileprivate func failed(_ slot: ModuleSlot, _ error: any Error) {
        metrics.withLock { $0.failures += 1 }
        gate.lane.counts.address.countFailure(of: slot.number)
        log.of(module: slot.id?.text ?? "").error("failed: \(error)")
    }

    fileprivate func failedOverdue(_ slot: ModuleSlot, _ error: any Error) {
        failedOverdue(slot, in: gate.lane.currentEvent(of: slot), error)
    }

    fileprivate func deliverOverdue(
        _ event: LifecycleEvent, to slot: ModuleSlot, _ members: inout OverdueMembers?
    ) -> Bool {
        guard !gate.lane.isClosed else { return false }
        let added = slot.membersAdded.load(ordering: .acquiring)
        if members?.added != added {
            // The list of members belongs to the lane; the members of an overdue module belong to its own
            // thread.
            let found = gate.lane.serve { [app] thread in
                LaneConfined(app.open(on: thread).center.members(of: slot))
            }
            guard let found else { return false }
            members = OverdueMembers(added: added, found.openInModule())
        }
        event.kind.definition.send(event, to: members?.members ?? []) { member, notify in
            guard !member.isRemoved else { return }
            counting(of: slot, notify) { failedOverdue(slot, in: event, $0) }
        }
        return true
    }

    /// Makes the lane record an error that a module threw on its own thread, before anything else happens
    /// there.
    private func failedOverdue(
        _ slot: ModuleSlot, in event: LifecycleEvent?, _ error: any Error
    ) {
        let error = DescribedError(error)
        let isNoted: Void? = gate.lane.serve { [app] thread in
            app.open(on: thread).failedOverdue(slot, in: event, error)
        }
        if isNoted == nil { log.failedOverdue(slot, in: event, error) }
    }
}
