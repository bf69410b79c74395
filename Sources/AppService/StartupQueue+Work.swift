// The loop of a worker: one critical section ends a task and takes the next, and one reading of the clock
// serves both.
extension StartupQueue {
    /// Work that has ended: its task, and its ending.
    struct Ended {
        let task: Int32
        let ending: StartupEnding
    }

    /// Runs tasks on `worker`, on its thread, until there is none for it.
    func work(on worker: StartupWorker, ended: Ended? = nil) {
        var ended = ended
        var effects: [StartupSchedule.Effect] = []
        while true {
            let now = now()
            let step = state.withLock { state in
                if let ended = ended.take() {
                    state.workEnded(
                        ended.task, on: worker.lane, ended.ending, now: now, &effects)
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
            case .run(let task, let work):
                guard let ending = run(work, of: task, on: worker) else { return }
                ended = Ended(task: task, ending: ending)
            }
        }
    }

    /// Runs synchronous work; begins asynchronous work, which calls ``work(on:ended:)`` itself, and returns
    /// nil.
    private func run(
        _ work: StartupWork, of task: Int32, on worker: StartupWorker
    ) -> StartupEnding? {
        do {
            switch work {
            case .gone: return .succeeded
            case .sync(let body):
                try body()
                return .succeeded
            case .syncHandingBack(let body): return .handBack(try body())
            case .async(let body):
                begin(task, on: worker) {
                    try await body()
                    return .succeeded
                }
            case .asyncHandingBack(let body):
                begin(task, on: worker) { .handBack(try await body()) }
            }
            return nil
        } catch {
            return .failed("\(error)")
        }
    }

    private func begin(
        _ task: Int32, on worker: StartupWorker,
        _ body: @escaping @Sendable () async throws -> StartupEnding
    ) {
        let handle = Task(executorPreference: worker) {
            let ended: Ended
            do {
                ended = Ended(task: task, ending: try await body())
            } catch {
                ended = Ended(task: task, ending: .failed("\(error)"))
            }
            // Outside the Swift task, whose cancellation and task-local values must not reach the next one.
            worker.run { self.work(on: worker, ended: ended) }
        }
        var effects: [StartupSchedule.Effect] = []
        state.withLock { $0.began(task, handle, &effects) }
        perform(&effects)
    }
}
