/// The health of a host, for a service manager or a container.
package struct HostHealth: Hashable, Sendable {
    package var state: LifecycleState
    /// Whether the app has launched, and no stop was requested.
    package var isReady: Bool
    /// The number of modules, including those that failed.
    package var modules: Int
    /// The modules that are busy beyond their deadline, in the order in which they became overdue.
    package var overdue: [ModuleID] = []
    /// The modules that failed, in slatefile order: they receive no further events.
    package var failed: [ModuleID] = []
    /// The problem of the inbox, in words; nil if there is none.
    package var problem: String?
    /// The module of a reload whose launch keeps the lane busy, within its deadline; nil for none.
    package var launching: ModuleID?

    package init(state: LifecycleState, isReady: Bool, modules: Int) {
        self.state = state
        self.isReady = isReady
        self.modules = modules
    }

    /// Whether the host is unhealthy, so that a restart would help.
    ///
    /// Modules that failed do not count: the app goes on without them, as the slatefile allows.
    package var isUnhealthy: Bool { Self.isUnhealthy(overdue: overdue.count, of: modules) }

    /// Returns whether eight modules, or half of all, are overdue.
    static func isUnhealthy(overdue: Int, of modules: Int) -> Bool {
        overdue >= 8 || overdue > 0 && overdue * 2 >= modules
    }
}

extension HostHealth: CustomStringConvertible {
    /// One line, such as `active: 6 modules; unresponsive: com.mm.push`.
    package var description: String {
        var text = isUnhealthy ? "unhealthy, " : ""
        text += "\(phase): \(modules) \(modules == 1 ? "module" : "modules")"
        if !overdue.isEmpty { text += "; unresponsive: \(Self.list(overdue))" }
        if !failed.isEmpty { text += "; failed: \(Self.list(failed))" }
        if let problem { text += "; inbox: \(problem)" }
        if let launching { text += "; \(launching) is launching" }
        return text
    }

    /// The state; an app that becomes active for the first time still counts as launching.
    private var phase: String {
        switch state {
        case .terminating, .terminated: state.rawValue
        case .launching, .inactive, .active, .background:
            isReady ? state.rawValue : LifecycleState.launching.rawValue
        }
    }

    private static func list(_ modules: [ModuleID]) -> String { modules.map(\.text).shortList() }
}

extension HostHealth {
    /// Writes the health as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("ready", isReady)
            $0.member("healthy", !isUnhealthy)
            $0.member("state", state.rawValue)
            $0.member("modules", modules)
            $0.member("unresponsive", overdue)
            $0.member("failed", failed)
            if let problem { $0.member("problem", problem) }
            if let launching { $0.member("launching", launching.text) }
        }
    }
}
