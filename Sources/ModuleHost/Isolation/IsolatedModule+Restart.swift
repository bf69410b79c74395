import AppService

/// The end and the restart of the process.
extension IsolatedModule {
    /// Restarts the process, and brings it to the state of the last one; not that of a program that has ended on purpose.
    ///
    /// - Parameters:
    ///   - end: The end of the last one.
    ///   - event: The event that it was handling.
    func restartProcess(after end: ProcessExit, in event: EventKind?) throws(IsolationError) {
        var end = end
        var start = process.startedAt
        while true {
            let services = context.host.services
            if spec.processes.isClosed {
                isGone = true
                try spec.processes.refuseStart()
            }
            let verdict = policy.died(
                startedAt: start, at: services.time.now(), chance: .random(in: 0...1))
            let last = end
            metrics.withLock { $0.noteEnd(last) }
            services.ring?.add(.processEnded(last.withoutOutput), of: context.id)
            if spec.limits.mayEnd, last.isSuccess {
                isGone = true
                return services.noteDone(context.slot)
            }
            // It was removed: there is nothing that another process is to receive.
            guard context.slot.isListed else {
                isGone = true
                throw .ended(last)
            }
            guard case .restart(let delay) = verdict else { throw giveUp(verdict, after: end) }
            context.log.write(
                .error, "\(end); it is started again in \(delay.briefText)", event: event?.rawValue)
            services.ring?.add(.restarting(in: delay), of: context.id)
            // A module that is being created or launched has its own deadline for that, and fails with it.
            if event != .launch { services.yieldLane(again: false) }
            services.waitForStop(within: delay)
            start = services.time.now()
            let program = spec.currentProgram
            do throws(IsolationError) {
                let (next, _) = try Self.start(
                    spec, ModuleIntroduction(context, spec), services, observer,
                    saidBefore: declaration)
                process = next
                posts.reset()
                metrics.withLock { $0.noteRestart(processID: next.processID, program) }
                services.ring?.add(.processStarted(Int(next.processID)), of: context.id)
                try repeatStage(but: event)
                context.log.notice("runs again, as process \(next.processID)")
                return
            } catch {
                switch error {
                case .notReady(let next), .ended(let next): end = next
                default: end = ProcessExit(startFailed: error)
                }
            }
        }
    }

    private func giveUp(
        _ verdict: RestartPolicy.Verdict, after end: ProcessExit
    ) -> IsolationError {
        isGone = true
        guard case .giveUp(let deaths) = verdict else { return .gone }
        let error = IsolationError.givenUp(deaths: deaths, within: spec.restarts.period, end)
        context.host.services.fail(context.slot, "process", error)
        return error
    }

    /// Sends the process the events of the app's state that the one before it received.
    private func repeatStage(but event: EventKind?) throws(IsolationError) {
        for kind in stage where kind != event && declaration.events.contains(kind) {
            let again =
                kind == .launch
                ? LifecycleEvent.launch(Launch(origin: .host, app: context.app))
                : .state(kind, origin: .host)
            do throws(ProcessExit) {
                if case .failure(let error) = try exchange(again, isRepeated: true) {
                    context.log.write(.error, "failed: \(error)", event: kind.rawValue)
                }
            } catch {
                throw .ended(error)
            }
        }
    }
}

extension ProcessExit {
    /// Creates the end of a process that could not be started.
    fileprivate init(startFailed error: IsolationError) {
        self.init(processID: 0, cause: .notStarted("\(error)"), exit: .code(0), lastLines: [])
    }
}
