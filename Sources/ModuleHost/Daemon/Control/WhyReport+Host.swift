import AppService

/// The knowledge of a running host from which it answers.
struct WhyKnowledge {
    let status: HostStatus
    let modules: [ModuleStatus]
    /// The modules that need each.
    let dependents: [ModuleID: [ModuleID]]
    let record: RecordContents?
    /// The last dead letter in the file, perhaps of an earlier host; nil for none.
    var deadLetter: DeadLetter?
    /// The reason why a host that starts is not ready; nil for one that is.
    var notReady: String?
    /// The name of the host's program, for the commands that help.
    let program: String
    let now: WallTime

    /// The time that counts as recent, in seconds.
    private static let recent = 600
    /// The time from which on a start counts as slow.
    private static let slowStart: Duration = .seconds(5)
    /// The time from which on a delivery counts as slow.
    private static let slowDelivery: Duration = .milliseconds(100)

    /// Returns the report about a module.
    func report(of module: ModuleStatus) -> WhyReport {
        var report = WhyReport(isRunning: true, summary, at: now)
        report.findings = [
            finding(
                of: module, recentEntries.filter { $0.module == module.id },
                placesOfUnresponsive([module]))
        ]
        report.record = record?.story(of: module.id) ?? []
        return report
    }

    /// Returns the report about all that is wrong, the worst first.
    func report() -> WhyReport {
        var report = WhyReport(isRunning: true, summary, at: now)
        let recent = recentEntries
        let own = Dictionary(grouping: recent) { $0.module }
        let places = placesOfUnresponsive(modules)
        let failed = Set(modules.lazy.filter { $0.state == .failed }.map(\.id))
        let wrong = modules.filter { module in
            // It is shown as one that needs that.
            !(module.failedNeed.map(failed.contains) ?? false)
        }.map { finding(of: $0, own[$0.id] ?? [], places) }.filter { $0.rank > 0 }
        let host = hostFindings + failedRequests(recent) + slowDeliveries(recent)
        report.findings = (wrong + host + tasks + slowStart).enumerated()
            .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
        return report
    }

    private var summary: String {
        let metrics = status.metrics
        let since = (metrics.stateSince ?? status.identity.startedAt).iso8601
        return "\(status.identity.app): \(metrics.state.inWords) since \(since), "
            + "process \(status.identity.processID)"
    }

    // MARK: Modules

    /// The most entries of one kind that count.
    private static let mostRecent = 1000

    /// The entries of this host, of the last minutes, that say what may be wrong; many events that went well leave them in place.
    private var recentEntries: [HostRecord] {
        let start = max(now.seconds - Self.recent, status.identity.startedAt.seconds)
        var (faults, deliveries, isSlow) = (0, 0, false)
        return record?.last(.max) { entry in
            guard entry.time.seconds >= start else { return false }
            switch entry.fact {
            case .processEnded, .threw, .requestsFailed:
                faults += 1
                return faults <= Self.mostRecent
            // The newest comes first: these are of the delivery behind them.
            case .handled: guard isSlow else { return false }
            case .delivered(let delivery):
                isSlow = delivery.duration >= Self.slowDelivery
                guard isSlow else { return false }
            default: return false
            }
            deliveries += 1
            return deliveries <= Self.mostRecent
        } ?? []
    }

    /// The modules that need one, directly or by way of others, in order.
    private func allDependents(of module: ModuleID) -> [ModuleID] {
        var (found, next): ([ModuleID], Int) = (dependents[module] ?? [], 0)
        var known = Set(found)
        while next < found.count {
            for id in dependents[found[next]] ?? [] where known.insert(id).inserted {
                found.append(id)
            }
            next += 1
        }
        return found
    }

    /// Returns what is known about a module; of rank 0 where nothing is wrong with it.
    private func finding(
        of module: ModuleStatus, _ own: [HostRecord], _ places: [ModuleID: String]
    ) -> WhyReport.Finding {
        var finding = WhyReport.Finding(module.id, module.state.rawValue)
        finding.since = module.since
        finding.reason = module.reason
        finding.neededBy = allDependents(of: module.id)
        finding.events = module.behind ?? module.waiting?.count ?? 0
        finding.calls = module.calls
        let restart = "\(program) restart \(module.id)"
        switch module.state {
        case .overdue:
            finding.rank = 2
            finding.reason = reason(ofOverdue: module, in: places[module.id])
            finding.next =
                "missed events are delivered when it returns"
                + (module.process == nil
                    ? ""
                    : "; after a restart it receives the one that it has again, and one in which it dies three times is a dead letter")
            finding.command =
                module.process != nil
                ? restart
                : "gdb -p \(status.identity.processID) -batch -ex 'thread apply all backtrace'"
        case .failed:
            finding.rank = 3
            if let need = module.failedNeed {
                finding.next = "restarting with \(need)"
                finding.command = "\(program) why \(need)"
            } else {
                finding.next = module.retryAfter.map { "restarting in \($0.briefText)" }
                finding.command = restart
            }
        case .waiting:
            finding.rank = module.reason == nil ? 0 : 4
        case .replacing:
            finding.next = "the new instance takes effect with the reload"
        case .running:
            noteErrors(own, in: &finding)
        case .done:
            finding.reason = "it is a program that has done what it is for"
            finding.command = restart
        case .onDemand:
            finding.next = "it is made when it is needed"
        case .released: break
        }
        return finding
    }

    private func reason(ofOverdue module: ModuleStatus, in place: String?) -> String? {
        if let process = module.process, process.processID == nil {
            return process.lastEnd.map { "\($0); it is started again" }
        }
        return place.map { "it has not returned from '\($0)'" }
    }

    /// Returns the event, or the step, in which each unresponsive module is; reads the record once for all of them.
    private func placesOfUnresponsive(_ modules: [ModuleStatus]) -> [ModuleID: String] {
        let overdue = Set(modules.lazy.filter { $0.state == .overdue }.map(\.id))
        guard !overdue.isEmpty else { return [:] }
        var places: [ModuleID: String] = [:]
        _ = record?.last(overdue.count) { entry in
            // The newest entry of a module comes first.
            guard case .unresponsive(let place) = entry.fact, let id = entry.module,
                overdue.contains(id), places[id] == nil
            else { return false }
            places[id] = place
            return true
        }
        return places
    }

    /// Notes that a module which runs has failed in events, or that its process has ended, a short time ago.
    private func noteErrors(
        _ own: [HostRecord], in finding: inout WhyReport.Finding
    ) {
        let ends = own.filter { if case .processEnded = $0.fact { true } else { false } }
        let errors = own.filter { if case .threw = $0.fact { true } else { false } }
        guard let last = ends.last ?? errors.last else { return }
        let count = ends.isEmpty ? errors.count : ends.count
        finding.command = "\(program) tail -n 20 --module \(last.module?.text ?? "")"
        let what = ends.isEmpty ? "events failed" : "its process ended"
        finding.rank = ends.isEmpty ? 6 : 5
        finding.reason =
            "\(what) \(times(count)) in the last 10 minutes; "
            + "at \(last.time.iso8601): \(last.text)"
    }

    // MARK: The host

    private var hostFindings: [WhyReport.Finding] {
        var findings: [WhyReport.Finding] = []
        if let notReady {
            var finding = WhyReport.Finding(nil, "starting", rank: 1)
            (finding.since, finding.reason) = (status.identity.startedAt, notReady)
            finding.command = "\(program) startup"
            findings.append(finding)
        }
        if let problem = status.inbox?.problem {
            var finding = WhyReport.Finding(nil, "inbox", rank: 1)
            (finding.reason, finding.command) = (problem, "\(program) inbox")
            if problem.contains(bytesOf: "No space left") {
                finding.command = "df -h \(shellQuoted(status.identity.stateDirectory))"
            }
            findings.append(finding)
        }
        let (last, ofFile) = (status.lastReload, status.lastReloadOfFile)
        for case let reload? in last == ofFile ? [last] : [ofFile, last]
        where reload.exitCode != .success {
            let what = reload.isHandedOver ? "apply" : "reload"
            var finding = WhyReport.Finding(nil, "\(what) \(reload.word)", rank: 7)
            finding.since = reload.time
            finding.reason = reload.summary
            finding.next = "the former slatefile stays in effect"
            if !reload.isHandedOver, let slatefile = status.identity.slatefile {
                finding.command = "\(program) check \(shellQuoted(slatefile))"
            }
            findings.append(finding)
        }
        // What was retried or dropped since is not wrong any more.
        if let deadLetter {
            let rejected = status.inbox?.rejected ?? 0
            var finding = WhyReport.Finding(nil, "dead letters", rank: 8)
            finding.reason = "\(rejected == 0 ? "none" : "\(rejected)") since the host started"
            finding.command = "\(program) inbox"
            finding.since = WallTime(deadLetter.time)
            let name = deadLetter.id ?? "\(deadLetter.position)"
            finding.reason? += "; the last one, \(name): \(deadLetter.reason)"
            findings.append(finding)
        }
        if let death = status.identity.lastDeath {
            var finding = WhyReport.Finding(nil, "last death", rank: 11)
            (finding.since, finding.reason) = (status.identity.startedAt, "\(death)")
            findings.append(finding)
        }
        return findings
    }

    /// The start of this host if it took long, with its slowest step.
    private var slowStart: [WhyReport.Finding] {
        guard let ready = status.metrics.readyAfter, ready >= Self.slowStart else { return [] }
        let steps = status.slowStart.compactMap { step in step.duration.map { (step.name, $0) } }
        guard let (name, time) = steps.max(by: { $0.1 < $1.1 }) else { return [] }
        var finding = WhyReport.Finding(nil, "slow start", rank: 12)
        finding.since = status.identity.startedAt
        finding.reason = "READY took \(ready.briefText), \(time.briefText) of it \(name)"
        finding.command = "\(program) startup"
        return [finding]
    }

    /// The requests of the control socket that failed a short time ago, if there were many.
    private func failedRequests(_ recent: [HostRecord]) -> [WhyReport.Finding] {
        var (count, newest) = (0, nil as (time: WallTime, text: String, process: Int)?)
        for entry in recent {
            guard case .requestsFailed(let number, let last, let process) = entry.fact else {
                continue
            }
            count += number
            newest = (entry.time, last, process)
        }
        guard let newest else { return [] }
        var finding = WhyReport.Finding(nil, "failing requests", rank: 8)
        finding.reason =
            "\(count) requests failed in the last 10 minutes; at \(newest.time.iso8601): \(newest.text)"
        finding.command = "ps -f -p \(newest.process)"
        return [finding]
    }

    /// The topics and events that were delivered slowly a short time ago, the slowest first.
    private func slowDeliveries(_ recent: [HostRecord]) -> [WhyReport.Finding] {
        typealias Share = (module: ModuleID, time: Duration)
        var slow: [String: (count: Int, longest: Duration, share: Share?, last: WallTime)] = [:]
        // Each of a delivery stands before that.
        var shares: [String: Share] = [:]
        func name(_ kind: EventKind, _ topic: String?) -> String {
            kind.rawValue + (topic.map { " \($0)" } ?? "")
        }
        for entry in recent {
            switch entry.fact {
            case .handled(let handling):
                let name = name(handling.kind, handling.topic)
                guard let module = entry.module, handling.duration > shares[name]?.time ?? .zero
                else { continue }
                shares[name] = (module, handling.duration)
            case .delivered(let delivery):
                let name = name(delivery.kind, delivery.topic)
                let share = shares.removeValue(forKey: name)
                guard delivery.duration >= Self.slowDelivery, delivery.kind != .launch else {
                    continue
                }
                var value = slow[name] ?? (0, .zero, nil, entry.time)
                if delivery.duration > value.longest {
                    (value.longest, value.share) = (delivery.duration, share)
                }
                (value.count, value.last) = (value.count + 1, entry.time)
                slow[name] = value
            default: break
            }
        }
        return slow.sorted { $0.value.longest > $1.value.longest }.prefix(3).map { name, value in
            var finding = WhyReport.Finding(nil, "slow", rank: 9)
            finding.reason =
                "\(name) took \(value.longest.briefText) at most, "
                + "\(times(value.count)) in the last 10 minutes, "
                + "at \(value.last.iso8601) for the last time"
            if let share = value.share {
                finding.reason? += "; \(share.time.briefText) of it in \(share.module)"
                finding.command = "\(program) why \(share.module)"
            } else {
                finding.reason? +=
                    "; no handler of it took long: it waited for modules that had other events"
            }
            return finding
        }
    }

    /// The start-up tasks of this host that did not succeed.
    private var tasks: [WhyReport.Finding] {
        let start = status.identity.startedAt.seconds
        let entries =
            record?.last(WhyReport.entries) { entry in
                guard case .task(_, let outcome, _) = entry.fact,
                    outcome != "\(StartupOutcome.succeeded)"
                else { return false }
                return entry.time.seconds >= start
            } ?? []
        return entries.map { entry in
            var finding = WhyReport.Finding(entry.module, "start-up task", rank: 10)
            (finding.since, finding.reason) = (entry.time, entry.text)
            return finding
        }
    }
}

/// Returns a number of occurrences in words.
func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

extension ControlledDaemon {
    /// Reports what is wrong, or what is the matter with a module.
    ///
    /// - Parameters:
    ///   - name: The id of the module, a URL or the id of a trace; nil for all that is wrong.
    ///   - origin: The origin of the question.
    ///   - onControlThread: Runs work on the control socket's thread: the lane must not spend time on it.
    ///   - completion: Called once, on the thread of the control socket or another one but the lane's.
    func why(
        _ name: String?, from origin: Origin,
        onControlThread: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void,
        _ completion: @escaping @Sendable (Result<WhyReport, RPCError>) -> Void
    ) {
        let trace = name.flatMap { TraceID($0) }
        if let trace, host.slatefile.modules.allSatisfy({ $0.id.text != name }) {
            // It takes no lane.
            return onControlThread { [self] in completion(report(of: trace)) }
        }
        if let name, WhyReport.isURL(name) {
            return why(url: name, from: origin, onControlThread: onControlThread, completion)
        }
        modules { [self] result in
            onControlThread { [self] in
                completion(Result { () throws(RPCError) in try report(of: name, result) })
            }
        }
    }

    private func reportOfAll(
        _ modules: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyReport {
        var knowledge = try knowledge(of: modules)
        knowledge.notReady = host.isStopping ? nil : host.reasonOfNotReadyYet
        knowledge.deadLetter = host.inbox.flatMap { try? DeadLetters($0.folder).newest() }
        return knowledge.report()
    }

    /// Returns what is known, for a report.
    ///
    /// - Throws: The error of `modules`.
    func knowledge(
        of modules: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyKnowledge {
        WhyKnowledge(
            status: try status(), modules: try modules.get().map(\.measured),
            dependents: host.slatefile.dependents, record: host.ring?.contents, program: program,
            now: .now())
    }

    private func report(of trace: TraceID) -> Result<WhyReport, RPCError> {
        let found = WhyReport.of(trace, in: host.ring?.contents, isRunning: true, at: .now())
        return found.map(Result.success)
            ?? .failure(
                RPCError(
                    .notFound, "nothing of the trace \(trace.text) is in the record",
                    detail: WhyReport.untraced))
    }

    private func report(
        of name: String?, _ result: Result<[ModuleStatus], RPCError>
    ) throws(RPCError) -> WhyReport {
        guard let name else {
            var report: WhyReport
            var busy: RPCError?
            do throws(RPCError) {
                report = try reportOfAll(result)
            } catch {
                // Without the lane, all else is known still.
                guard error.code == .overdue else { throw error }
                busy = error
                report = try reportOfAll(.success([]))
            }
            if let busy {
                var finding = WhyReport.Finding(try status().atWork, "busy")
                finding.reason = "\(busy)"
                report.findings.insert(finding, at: 0)
            }
            return report
        }
        let knowledge = try knowledge(of: result)
        guard let module = knowledge.modules.first(where: { $0.id.text == name }) else {
            throw RPCError(NoSuchModule(name: name, in: host.slatefile))
        }
        return knowledge.report(of: module)
    }
}

private struct WhyParameters: Decodable, Sendable {
    let module: String?
}

extension ControlMethods {
    /// Adds `why`, which responds with what is wrong, or with what is the matter with a module.
    mutating func addWhy(of daemon: ControlledDaemon) {
        add("why", WhyParameters.self) { parameters, call in
            daemon.why(
                parameters.module, from: call.peer.origin, onControlThread: call.onControlThread
            ) { report in
                call.reply.give(report) { $0.write(to: &$1) }
            }
        }
    }
}
