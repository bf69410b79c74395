/// The status of one module: a row of `hostd modules`.
package struct ModuleStatus: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The module is not launched yet.
        case waiting
        case running
        /// The old instance is stopped, and the new one not in effect yet: what is for the module waits.
        case replacing
        /// The module is busy beyond its deadline; events wait for it.
        case overdue = "unresponsive"
        /// The module receives nothing more.
        case failed
        /// The module is a program that has ended on purpose.
        case done
        /// The module was released, at the end.
        case released
        /// The module is made when it is needed.
        case onDemand = "on-demand"
    }

    package var id: ModuleID
    /// The entry, or the command of an isolated program.
    package var entry: String
    package var state: State
    /// The time since when it is in this state.
    package var since: WallTime
    package var isMain = false
    package var isRequired = false
    /// Whether it is made when it is needed.
    package var isLazy = false
    /// The number of events that wait for it; nil unless it is overdue.
    package var behind: Int?
    /// The time until it receives events again, since it wants one later; nil while it does.
    package var pausedFor: Duration?
    /// The durable events that wait for it since it failed; nil for none.
    package var waiting: WaitingEvents?
    /// The number of calls that wait for its process, or until it is made.
    package var calls = 0
    /// The time until it is restarted after a failure; nil if it will not be.
    package var retryAfter: Duration?
    /// The reason of its failure, or the program that it waits for, in words.
    package var reason: String?
    /// The failed module that it needs, and with which it is restarted; nil if it failed for another reason.
    package var failedNeed: ModuleID?
    /// The URL that is opened instead of it since it has failed; nil for none.
    package var instead: String?
    /// The holds of the module, in the order in which it took them.
    package var holds: [OpenHold] = []
    /// The status of its process; nil for a module that runs in the host's.
    package var process: ModuleProcessStatus?
    /// The counts of what it did with events; nil where that is not asked for, or before it did anything.
    var counts: DeliveryCounts.Counts?
    /// The number of host deaths during which it was running, where it is isolated for that.
    package var hostDeaths: Int?

    /// The same status with the system's current data about its process.
    var measured: ModuleStatus {
        var status = self
        status.process = process?.measured()
        return status
    }

    package init(id: ModuleID, entry: String, state: State, since: WallTime) {
        self.id = id
        self.entry = entry
        self.state = state
        self.since = since
    }

    /// Writes the status as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("id", id.text)
            $0.member("entry", entry)
            $0.member("state", state.rawValue)
            $0.member("since", since.iso8601)
            $0.member("main", isMain)
            $0.member("required", isRequired)
            if isLazy { $0.member("lazy", true) }
            if let behind { $0.member("behind", behind) }
            if let pausedFor {
                $0.member("pausedMs", max(0, pausedFor.wholeNanoseconds) / 1_000_000)
            }
            if calls > 0 { $0.member("calls", calls) }
            if let waiting { $0.member("waiting") { waiting.write(to: &$0) } }
            if let reason { $0.member("reason", reason) }
            if let failedNeed { $0.member("failedNeed", failedNeed.text) }
            if let instead { $0.member("instead", instead) }
            if let retryAfter {
                $0.member("retryInMs", max(0, retryAfter.wholeNanoseconds) / 1_000_000)
            }
            if let process { $0.member("process") { process.write(to: &$0) } }
            if let hostDeaths { $0.member("hostDeaths", hostDeaths) }
            guard !holds.isEmpty else { return }
            $0.member("holds") {
                $0.objects(for: holds) { hold, json in hold.write(to: &json) }
            }
        }
    }
}

/// The events of the inbox that wait for a failed module.
package struct WaitingEvents: Hashable, Sendable {
    package var count: Int
    /// The position of the first one.
    package var first: EventPosition

    package init(count: Int, first: EventPosition) {
        self.count = count
        self.first = first
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("events", count)
            $0.member("from", first.description)
        }
    }
}

extension AppHost.End {
    /// Writes the outcome of a stop as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            switch self {
            case .stopped: $0.member("outcome", "stopped")
            case .failed(let reason):
                $0.member("outcome", "failed")
                $0.member("reason", reason)
            case .overdue(let modules):
                $0.member("outcome", "overdue")
                $0.member("modules", modules)
            }
        }
    }
}
