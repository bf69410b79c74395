/// Waiting for the processes of modules, which have a step of a stop at the same time.
extension Shutdown {
    /// Unloads the modules once each process has answered `terminate`, or is late, and no module has a hold.
    func releaseWhenAnswered() {
        guard let host = app.host else { return }
        for record in app.records { app.cancelRun(of: record) }
        whenAnswered { $0.releaseWhenNobodyHolds(in: host) }
    }

    /// The modules whose processes have yet to answer a step of the stop.
    private var answering: [ModuleRecord] {
        app.records.filter { app.gate.lane.answersStep($0.slot) }
    }

    /// Runs a closure, once, on the lane, when each process has answered the step, or the time of the step is over.
    private func whenAnswered(_ body: @escaping (Shutdown) -> Void) {
        // Behind the moment at which each that has not answered is unresponsive.
        let limit = app.gate.lane.watchdog.restOfStep.map { $0 + StopBudget.minimum }
        app.whenAnswered(answering, within: limit, endsWithTime: true) { body($0.shutdown) }
    }

    /// Keeps the job of a stop before `terminate` while a process has yet to answer `background`, or a module has a hold on it.
    ///
    /// - Returns: Whether it is kept: then it will be run again, once.
    func keepsBeforeEnd(_ job: EventJob) -> Bool {
        guard !answering.isEmpty else { return keeps(job) }
        whenAnswered { if !$0.keeps(job) { $0.app.gate.lane.prepend([job]) } }
        return true
    }
}
