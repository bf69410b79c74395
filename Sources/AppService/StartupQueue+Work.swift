// The loop of a worker: one critical section ends a task and takes the next, and one reading of the clock
// serves both.
extension StartupQueue {
    /// The work, or the handing back of its result, that has ended on a worker.
    enum Ended {
        case work(StartupResult)
        case handBack
    }

    /// Runs tasks on `worker`, on its thread, until there is none for it.
    ///
    /// - Parameter ended: What it has run; nil for nothing.
    func work(on worker: StartupWorker, ended: Ended? = nil) {
        var ended = ended
        var effects: [StartupSchedule.Effect] = []
        while true {
            let now = now()
            let step = state.withLock { state in
                let step = state.step(of: worker, after: ended, now: now, &effects)
                state.settle(&effects)
                return step
            }
            // Not released under the lock: the result of an overdue task may end with it, in code that calls the queue.
            withExtendedLifetime(ended) {}
            ended = nil
            perform(&effects)
            switch step {
            case .rest: return
            case .handBack(let task, let numbering, let body):
                body(StartupReceipt(queue: self, task: task, numbering: numbering))
                ended = .handBack
            case .watch:
                // Real time, whatever the queue's source of time is: it limits how long a thread rests, and no
                // result depends on it.
                watch.sleep(for: .nanoseconds(StartupSchedule.watchTime))
            case .run(let work):
                guard let result = run(work, on: worker) else { return }
                ended = .work(result)
            }
        }
    }

    /// Runs synchronous work; begins asynchronous work, which calls ``work(on:ended:)`` itself, and returns
    /// nil.
    private func run(_ work: StartupWork, on worker: StartupWorker) -> StartupResult? {
        do {
            switch work {
            case .gone: return .ended(.succeeded)
            case .sync(let body):
                try body()
                return .ended(.succeeded)
            case .syncHandingBack(let body): return .handBack(try body())
            case .async(let body):
                begin(on: worker) {
                    try await body()
                    return .ended(.succeeded)
                }
            case .asyncHandingBack(let body):
                begin(on: worker) { .handBack(try await body()) }
            }
            return nil
        } catch {
            return .ended(.failed("\(error)"))
        }
    }

    private func begin(
        on worker: StartupWorker,
        _ body: @escaping @Sendable () async throws -> StartupResult
    ) {
        let handle = Task(executorPreference: worker) {
            let result: StartupResult
            do {
                result = try await body()
            } catch {
                result = .ended(.failed("\(error)"))
            }
            // Outside the Swift task, whose cancellation and task-local values must not reach the next one.
            worker.run { self.work(on: worker, ended: .work(result)) }
        }
        var effects: [StartupSchedule.Effect] = []
        state.withLock { $0.began(on: worker.lane, handle, &effects) }
        perform(&effects)
    }
}
