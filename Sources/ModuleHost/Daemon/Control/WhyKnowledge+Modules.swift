import AppService

/// Findings about modules.
extension WhyKnowledge {
    /// Returns what is known about a module; without a rank where nothing is wrong with it.
    func finding(
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
            finding.rank = .unresponsive
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
            finding.rank = .failed
            if let need = module.failedNeed {
                finding.next = "restarting with \(need)"
                finding.command = "\(program) why \(need)"
            } else {
                finding.next = module.retryAfter.map { "restarting in \($0.briefText)" }
                finding.command = restart
            }
        case .waiting:
            finding.rank = module.reason == nil ? nil : .waiting
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

    private func reason(ofOverdue module: ModuleStatus, in place: String?) -> String? {
        if let process = module.process, process.processID == nil {
            return process.lastEnd.map { "\($0); it is started again" }
        }
        return place.map { "it has not returned from '\($0)'" }
    }

    /// Returns the event, or the step, in which each unresponsive module is; reads the record once for all of them.
    func placesOfUnresponsive(_ modules: [ModuleStatus]) -> [ModuleID: String] {
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
        finding.rank = ends.isEmpty ? .errors : .processEnds
        finding.reason =
            "\(what) \(times(count)) in the last 10 minutes; "
            + "at \(last.time.iso8601): \(last.text)"
    }
}
