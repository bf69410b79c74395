import AppService
import Synchronization

/// The ends of start-up tasks, and what the launch took its time for.
extension AppHost {
    func startupEvent(_ event: StartupEvent) {
        switch event {
        case .started(let task, _): log.debug("start-up task \(task) begins")
        case .ended(let task, let outcome, let duration):
            log.write(
                outcome == .succeeded ? .info : .warning, "start-up task \(task) \(outcome)",
                duration: duration)
            note(task, "\(outcome)", duration, isFailed: outcome != .succeeded)
        case .endedLate(let task, let duration):
            log.write(.warning, "start-up task \(task) ended late", duration: duration)
            note(task, "ended late", duration, isFailed: true)
        }
    }

    /// The report on the launch, for any thread.
    package var launchReport: LaunchReport {
        var report = LaunchReport(launchTimes.current, startup.report())
        report.hostStarted = launchTimes.hostStarted
        return report
    }

    /// Adds a task to the record if it took a second or did not succeed.
    private func note(_ task: String, _ outcome: String, _ time: Duration, isFailed: Bool) {
        guard isFailed || time >= .seconds(1) else { return }
        let module = task.firstIndex(of: "/").flatMap { try? ModuleID(String(task[..<$0])) }
        ring?.add(.task(task, outcome: outcome, time), of: module)
    }

    /// Ends the app, or the reload for which the module of the task was created.
    func requiredTaskFailed(
        _ task: String, _ outcome: StartupOutcome, of slot: ModuleSlot?
    ) {
        let reason = "required start-up task '\(task)' \(outcome)"
        guard let slot, slot.isStaged.load(ordering: .relaxed) else { return fail(reason) }
        onLane { app, _ in
            // It may have taken effect meanwhile, or have been rolled back.
            guard slot.isStaged.load(ordering: .relaxed) else {
                app.host?.fail(reason)
                return
            }
            guard let reload = app.reloads.current, reload.staged(of: slot) != nil else { return }
            reload.rollBack(because: reason)
        }
    }
}
