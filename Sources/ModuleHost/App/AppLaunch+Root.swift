/// The root: the URL that the main module supplies, and that is opened at the end of the launch.
extension AppLaunch {
    func askForRoot(on thread: LaneThread) {
        guard app.phase == .activating, let record = app.records.first(where: \.entry.isMain),
            !record.isFailed, let main = record.module as? any RootProvider
        else { return }
        let log = app.log.of(module: record.id.text)
        guard app.gate.lane.admit(record.slot, at: nil) == .go else {
            return log.warning("no root: the module is unresponsive")
        }
        let failure: any Error
        switch app.gate.call(record.slot, on: thread, { try describing { try main.root } }) {
        case .returned(let root?):
            do throws(RouteURLError) {
                let event = try LifecycleEvent.openURL(root, origin: .local(record.id))
                self.root = event
                return app.deliverNow(.own(event))
            } catch {
                failure = error
            }
        case .threw(let error): failure = error
        case .returned(nil), .tooDeep, .lost, .threwOverdue: return
        }
        app.countFailure(of: record.slot)
        log.error("no root: \(failure)")
    }

    /// Opens the root again once the interceptor that did not respond has returned, if that is why it was not
    /// opened.
    func rootFailed(_ error: any Error) {
        guard root != nil, let module = app.calls?.unresponsiveGuard(in: error) else { return }
        app.log.notice("the root is opened again when \(module) responds")
        rootGuard = module
        let isOverdue = app.gate.lane.overdueSlots.contains { $0.id == module }
        if !isOverdue { openRefusedRoot(after: module) }
    }

    /// Opens the root that this interceptor has refused.
    func openRefusedRoot(after module: ModuleID?) {
        guard let root, let module, rootGuard == module, !app.phase.isEnding else { return }
        rootGuard = nil
        app.deliverNow(.own(root))
    }
}
