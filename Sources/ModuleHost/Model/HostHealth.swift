/// The health of a host, for a service manager or a container.
package struct HostHealth: Hashable, Sendable {
    package var state: LifecycleState
    /// Whether the app has launched, and was not asked to stop.
    package var isReady: Bool
    /// The number of modules, with those that failed.
    package var modules: Int
    /// Those that are busy beyond their deadline, in the order in which they became so.
    package var overdue: [ModuleID] = []
    /// Those that failed, in slatefile order: they get nothing more.
    package var failed: [ModuleID] = []

    package init(state: LifecycleState, isReady: Bool, modules: Int) {
        self.state = state
        self.isReady = isReady
        self.modules = modules
    }

    /// Whether the host can no longer be called healthy: a new start would serve better.
    ///
    /// Modules that failed do not count: the app goes on without them, as it was asked to.
    package var isUnhealthy: Bool { Self.isUnhealthy(overdue: overdue.count, of: modules) }

    /// Eight overdue, or half of all.
    static func isUnhealthy(overdue: Int, of modules: Int) -> Bool {
        overdue >= 8 || overdue > 0 && overdue * 2 >= modules
    }
}

extension HostHealth: CustomStringConvertible {
    /// One line, such as `active: 6 modules; overdue: com.mm.push`.
    package var description: String {
        var text = isUnhealthy ? "unhealthy, " : ""
        text += "\(phase): \(modules) \(modules == 1 ? "module" : "modules")"
        if !overdue.isEmpty { text += "; unresponsive: \(Self.list(overdue))" }
        if !failed.isEmpty { text += "; failed: \(Self.list(failed))" }
        return text
    }

    /// The state; an app that becomes active for the first time is still being launched.
    private var phase: String {
        switch state {
        case .terminating, .terminated: state.rawValue
        case .launching, .inactive, .active, .background:
            isReady ? state.rawValue : LifecycleState.launching.rawValue
        }
    }

    private static func list(_ modules: [ModuleID]) -> String {
        let shown = modules.prefix(8).map(\.text).joined(separator: ", ")
        return modules.count > 8 ? "\(shown) and \(modules.count - 8) more" : shown
    }
}

extension HostHealth {
    /// Writes the health as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("ready", isReady)
            $0.member("healthy", !isUnhealthy)
            $0.member("state", state.rawValue)
            $0.member("modules", modules)
            $0.member("unresponsive", formerly: "late") { $0.member($1, overdue) }
            $0.member("failed", failed)
        }
    }
}
