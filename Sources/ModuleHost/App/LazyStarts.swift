import AppService

/// The modules that are about to be made, with the jobs of the lane that wait for them: lazy ones whose processes start,
/// and the places of those that a reload replaces.
///
/// The lane itself waits for no process: a call and an event wait as jobs, everything else goes on. Durable events keep
/// the order of the log: while one waits, those behind it wait, too, and after ``patience`` they go on without the module,
/// which receives them when it is made. Belongs to the lane.
final class LazyStarts {
    /// The longest time for which durable events wait for a process that starts.
    static let patience: Duration = .seconds(1)

    /// A module that is about to be made; one whose life says that it has failed is tried again.
    final class Start {
        let record: ModuleRecord
        let context: ModuleContext
        /// The starts of its process and of others; nil while it waits for a module that it needs.
        var process: ProcessStarts?
        /// The calls that wait for it.
        fileprivate(set) var jobs: [any LaneJob] = []
        /// Ends the wait of durable events; nil before one waits.
        fileprivate var alarm: (any Alarm)?
        /// The events that an instance received which a reload has stopped, to replace it; nil for another module, and once
        /// the reload is undone.
        var replaced: ReceivedEvents?
        /// Whether durable events do not wait for it any more.
        fileprivate(set) var isLate = false

        init(_ record: ModuleRecord, _ context: ModuleContext) {
            (self.record, self.context) = (record, context)
        }

        /// Whether its process has yet to declare itself.
        var isPending: Bool { process?.isPending(record.id) == true }
    }

    unowned let app: App
    private var starts: [ModuleID: Start] = [:]
    /// The calls that wait for modules that are made and catch up.
    private var calls: [ModuleID: [any LaneJob]] = [:]
    /// The jobs that wait until programs have ended.
    private(set) var waiting: [ModuleID: [any LaneJob]] = [:]
    /// The durable events that wait, in the order of the log.
    private var events: [any LaneJob] = []

    init(of app: App) { self.app = app }

    subscript(module: ModuleID) -> Start? { starts.isEmpty ? nil : starts[module] }

    /// Adds a module that is about to be made.
    func insert(_ start: Start) { starts[start.record.id] = start }

    /// Whether there are none.
    var isEmpty: Bool { starts.isEmpty }

    /// Returns a module that a reload replaces and that is to receive an event; nil for none.
    func replaced(receiving event: LifecycleEvent) -> ModuleID? {
        starts.values.first { start in
            start.replaced?.contains(event) == true && event.isFor(start.record.id)
        }?.record.id
    }

    /// Takes a module out, to make it: what waits for it comes next.
    ///
    /// - Parameters:
    ///   - start: The module.
    ///   - isBehind: Whether it catches up with durable events first, so that calls wait until it has.
    func take(_ start: Start, untilLevel isBehind: Bool) {
        starts[start.record.id] = nil
        if isBehind, !start.jobs.isEmpty {
            calls[start.record.id] = start.jobs
            start.jobs = []
        }
        release(start)
    }

    /// Lists the calls that have waited for a module until it has caught up, or has failed.
    func isLevel(_ module: ModuleID) {
        guard !calls.isEmpty, let jobs = calls.removeValue(forKey: module) else { return }
        app.gate.lane.prepend(jobs)
    }

    /// Begins the starts of modules' processes, some at a time, and goes on with each module when its process has declared
    /// itself.
    ///
    /// - Returns: Whether the last one is to be awaited; else the module can be made now.
    @discardableResult
    func begin(_ starts: [Start], in host: AppHost) -> Bool {
        let contexts = Dictionary(
            starts.map { ($0.record.id, $0.context) }, uniquingKeysWith: { first, _ in first })
        let processes = app.processStarts(of: starts.map(\.record)) { contexts[$0.id] }
        processes.begin()
        var isAwaited = false
        for start in starts {
            let (id, slot) = (start.record.id, start.record.slot)
            start.process = processes
            if start.record.entry.ends { limitEnd(of: start.record, in: host) }
            isAwaited = processes.isPending(id) || start.record.entry.ends  // It may be done.
            guard isAwaited else { continue }
            processes.whenDone(id) {
                host.onLane(limit: .launch) { app, thread in
                    guard let start = app.onDemand.starts[id], start.record.slot === slot else {
                        return
                    }
                    app.onDemand.goOn(with: start, on: thread)
                }
            }
        }
        return isAwaited
    }

    /// Brings up failed modules again, each in a job of its own.
    func attempt(_ starts: [Start], in host: AppHost) {
        let starts = starts.filter { self[$0.record.id] === $0 }
        // A process does not start before what its module needs runs.
        begin(starts.filter { $0.record.entry.hasProcess && !isBehind($0) }, in: host)
        for start in starts where !start.isPending { goOn(with: start, in: host) }
    }

    /// Goes on with a module that waits neither for its process nor for a module that it needs.
    func resume(_ start: Start, in host: AppHost) {
        // The first process of an attempt begins with others, once the failed instances of all of them are released.
        let isNext =
            start.process == nil && start.record.entry.hasProcess && app.unloadingModules.hasWaiting
        if !start.isPending, !isNext, !isBehind(start) { goOn(with: start, in: host) }
    }

    /// Returns whether a module needs one that is about to be made.
    private func isBehind(_ start: Start) -> Bool {
        start.record.entry.needs.contains {
            self[$0] != nil || app.record(of: $0)?.isToEnd == true
        }
    }

    func goOn(with start: Start, in host: AppHost) {
        let confined = LaneConfined(start)
        host.onLane(limit: .launch) { app, thread in
            app.onDemand.goOn(with: confined.open(on: thread), on: thread)
        }
    }

    // MARK: Waiting

    /// Keeps a job until a module is made, or has failed; for a program that ends, until it has ended or is late.
    ///
    /// - Returns: False where the module is not about to be made any more.
    func keep(_ job: any LaneJob, for module: ModuleID) -> Bool {
        if let record = app.record(of: module), record.entry.ends {
            guard record.isAwaited else { return false }
            waiting[module, default: []].append(job)
            return true
        }
        guard let start = self[module] else { return false }
        start.jobs.append(job)
        return true
    }

    /// Lists the jobs that have waited for a program to end.
    func releaseWaiting(for module: ModuleID) {
        guard !waiting.isEmpty, let jobs = waiting.removeValue(forKey: module) else { return }
        app.gate.lane.prepend(jobs)
    }

    /// Keeps the job of a durable event until some modules are made, or take too long.
    ///
    /// - Returns: False where they take too long, or are not about to be made any more.
    func keep(durable job: any LaneJob, for modules: [ModuleID]) -> Bool {
        let waited = modules.compactMap { self[$0] }.filter { !$0.isLate }
        guard !waited.isEmpty, let host = app.host else { return false }
        events.append(job)
        for start in waited where start.alarm == nil { limitWait(for: start, in: host) }
        return true
    }

    private func limitWait(for start: Start, in host: AppHost) {
        let (module, slot) = (start.record.id, start.record.slot)
        start.alarm = app.time.schedule(after: Self.patience) { [weak host] in
            host?.onLane { app, _ in
                guard let start = app.onDemand.starts[module], start.record.slot === slot else {
                    return
                }
                start.isLate = true
                app.onDemand.starts.releaseEvents()
            }
        }
    }

    /// Keeps the job of a durable event behind those that wait; returns whether it is kept.
    func keepInOrder(_ job: any LaneJob) -> Bool {
        guard !events.isEmpty else { return false }
        events.append(job)
        return true
    }

    private func releaseEvents() {
        let jobs = events
        events = []
        app.gate.lane.prepend(jobs)
    }

    private func release(_ start: Start) {
        start.alarm?.cancel()
        app.gate.lane.prepend(start.jobs)
        start.jobs = []
        releaseEvents()
    }

    // MARK: The end

    /// Ends the start of a module that is removed or replaced; what waits for it is tried again.
    ///
    /// - Parameters:
    ///   - record: The module.
    ///   - isBehind: Whether the one that takes its place catches up first.
    func end(_ record: ModuleRecord, untilLevel isBehind: Bool = false) {
        if !isBehind { isLevel(record.id) }
        releaseWaiting(for: record.id)
        guard let start = self[record.id], start.record === record else { return }
        if record.entry.ends {
            // It may be in the middle of its work: it ends as the process of a module does.
            record.starting = start.process?[record.id]
        } else {
            start.process?[record.id]?.cancel()
        }
        take(start, untilLevel: isBehind)
    }

    /// Ends all starts for a stop: the jobs that wait find out that the app stops.
    func endAll() {
        for start in starts.values { end(start.record) }
        for module in calls.keys { isLevel(module) }
        for module in waiting.keys { releaseWaiting(for: module) }
    }

    /// Ends all starts when the lane has ended.
    func leaveBehind() {
        for start in starts.values {
            start.alarm?.cancel()
            start.process?[start.record.id]?.cancel()
            for job in start.jobs { job.abandon() }
        }
        for job in events + calls.values.joined() + waiting.values.joined() { job.abandon() }
        (starts, events, calls, waiting) = ([:], [], [:], [:])
    }
}
