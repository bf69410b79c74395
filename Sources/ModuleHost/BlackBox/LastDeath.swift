/// The death of the last host on a state directory, from its black box.
package struct LastDeath: Hashable, Sendable {
    /// The cause of the death.
    package enum Cause: String, Hashable, Sendable {
        /// The process died: a trap, a signal.
        case process
        /// The machine went down, and with it the process.
        case machine
        /// Unknown: the state directory is a copy, and the host of the original may be running.
        case copy
    }

    package var cause: Cause
    package var processID: Int32
    package var startedAt: WallTime
    /// The work of the lane; nil for calls and for everything else that is not an event.
    package var activity: BlackBox.Activity?
    /// The module that was running on the lane; nil for none.
    package var module: ModuleID?
    /// The chain of callers, the direct caller first.
    package var callers: [ModuleID] = []
    /// The current durable event, and the number of its attempt.
    package var current: BlackBox.Progress.InHand?
    /// The modules that were overdue, and so may have been running on threads of their own.
    package var overdue: [ModuleID] = []
    /// The modules whose start-up tasks ran, on threads of their own.
    package var startingUp: [ModuleID] = []
    /// The modules that had registered services, so that they cannot run in processes of their own.
    package var registering: [ModuleID] = []
}

extension BlackBox.Contents {
    /// The death of the host; nil if it ended on purpose.
    ///
    /// Where the machine went down, the file may hold older notes beside newer ones: no module is named. Nor is one in a
    /// copy, whose host may not have died.
    package var death: LastDeath? {
        guard state == .running else { return nil }
        let cause: LastDeath.Cause = isCopy ? .copy : isOfThisBoot ? .process : .machine
        var death = LastDeath(cause: cause, processID: processID, startedAt: startedAt)
        guard cause == .process else { return death }
        death.activity = activity
        death.module = module
        death.callers = module == nil ? [] : callers
        if case .event = activity { death.current = progress?.current }
        death.overdue = overdue
        death.startingUp = startingUp
        death.registering = registering
        return death
    }
}

extension LastDeath: CustomStringConvertible {
    /// One line, such as `the last host (process 4711) died while 'com.mm.push' handled 'push'`.
    package var description: String {
        switch cause {
        case .process: break
        case .machine:
            return "the machine went down while the last host (process \(processID)) ran"
        case .copy:
            return
                "this state directory is a copy, made while the host of the original (process \(processID)) ran, or "
                + "after that had died: events that were pending then may be delivered by both"
        }
        var text = "the last host (process \(processID)) died while \(scene)"
        if !overdue.isEmpty { text += "; unresponsive: \(list(overdue))" }
        if !startingUp.isEmpty { text += "; work off the lane ran: \(list(startingUp))" }
        return text
    }

    private var scene: String {
        guard let module else {
            let place = activity.map { ", in \(name(of: $0))" } ?? ""
            return "no module was running\(place)\(position)"
        }
        guard callers.isEmpty else {
            let chain = callers.map { "'\($0)'" }.joined(separator: ", called by ")
            let place = activity.map { ", in \(name(of: $0))" } ?? ""
            return "'\(module)' was running, called by \(chain)\(place)\(position)"
        }
        return switch activity {
        case .event(let kind): "'\(module)' handled '\(kind.rawValue)'\(position)"
        case .making: "'\(module)' was being created"
        case .release: "'\(module)' was being released"
        case nil: "'\(module)' was running, outside events"
        }
    }

    private var position: String {
        current.map { " (inbox \($0.position), attempt \($0.attempt))" } ?? ""
    }

    private func name(of activity: BlackBox.Activity) -> String {
        switch activity {
        case .event(let kind): "'\(kind.rawValue)'"
        case .making: "init"
        case .release: "release"
        }
    }

    private func list(_ ids: [ModuleID]) -> String { ids.map(\.text).joined(separator: ", ") }
}

extension LastDeath {
    /// Writes the death as one object.
    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("text", description)
            json.member("cause", cause.rawValue)
            json.member("pid", Int(processID))
            json.member("startedAt", startedAt.iso8601)
            if let module { json.member("module", module.text) }
            Self.write(callers, as: "calledBy", to: &json)
            switch activity {
            case .event(let kind): json.member("event", kind.rawValue)
            case .making: json.member("during", "init")
            case .release: json.member("during", "release")
            case nil: break
            }
            if let current {
                json.member("position", current.position.description)
                json.member("attempt", current.attempt)
            }
            Self.write(overdue, as: "unresponsive", to: &json)
            Self.write(startingUp, as: "startingUp", to: &json)
        }
    }

    private static func write(_ ids: [ModuleID], as key: String, to json: inout JSONWriter) {
        guard !ids.isEmpty else { return }
        json.member(key) { $0.array { for id in ids { $0.value(id.text) } } }
    }
}
