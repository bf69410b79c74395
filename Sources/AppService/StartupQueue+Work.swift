// The loop of a worker: one critical section ends a task and takes the next, and one reading of the clock
// serves both.
extension StartupQueue {
    /// Runs tasks on `worker`, on its thread, until there is none for it.
    ///
    /// - Parameters:
    ///   - worker: The worker.
    ///   - ended: The ending of the work that it has run; nil for none.
    func work(on worker: StartupWorker, ended: StartupEnding? = nil) {
        var ended = ended
        var effects: [StartupSchedule.Effect] = []
        while true {
            let now = now()
            let step = state.withLock { state in
                if let ended = ended.take() {
                    state.workEnded(on: worker.lane, ended, now: now, &effects)
                }
                let step = state.next(for: worker, now: now, &effects)
                state.settle(&effects)
                return step
            }
            perform(&effects)
            switch step {
            case .rest: return
            case .watch:
                // Real time, whatever the queue's source of time is: it limits how long a thread rests, and no
                // result depends on it.
                watch.sleep(for: .nanoseconds(StartupSchedule.watchTime))
            case .run(let work):
                guard let ending = run(work, on: worker) else { return }
                ended = ending
            }
        }
    }

    /// Runs synchronous work; begins asynchronous work, which calls ``work(on:ended:)`` itself, and returns
    /// nil.
    private func run(_ work: StartupWork, on worker: StartupWorker) -> StartupEnding? {
        do {
            switch work {
            case .gone: return .succeeded
            case .sync(let body):
                try body()
                return .succeeded
            case .syncHandingBack(let body): return .handBack(try body())
            case .async(let body):
                begin(on: worker) {
                    try await body()
                    return .succeeded
                }
            case .asyncHandingBack(let body):
                begin(on: worker) { .handBack(try await body()) }
            }
            return nil
        } catch {
            return .failed("\(error)")
        }
    }

    private func begin(
        on worker: StartupWorker,
        _ body: @escaping @Sendable () async throws -> StartupEnding
    ) {
        let handle = Task(executorPreference: worker) {
            let ended: StartupEnding
            do {
                ended = try await body()
            } catch {
                ended = .failed("\(error)")
            }
            // Outside the Swift task, whose cancellation and task-local values must not reach the next one.
            worker.run { self.work(on: worker, ended: ended) }
        }
        var effects: [StartupSchedule.Effect] = []
        state.withLock { $0.began(on: worker.lane, handle, &effects) }
        perform(&effects)
    }
}
