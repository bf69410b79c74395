import AppService

/// A value that asynchronous code waits for.
///
/// In place of a continuation, whose task is resumed on the executor for code without isolation and changes to
/// its actor only then: two changes of the thread where the value comes from the lane and the task is a
/// module's. Here the thread that has the value passes the task on to its actor itself.
///
/// That takes an actor which is its own executor. A task that waits is a job of the actor, which
/// runs when the value is there, and does no more than to return it.
actor SuspendingFuture<Value: Sendable>: SerialExecutor {
    private enum State {
        case empty
        case awaited(UnownedJob)
        case kept(Value)
    }

    private nonisolated let state = Guarded(State.empty)

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    /// Sets the value; called once.
    nonisolated func keep(_ value: Value) {
        let job = state.withLock { state in
            defer { state = .kept(value) }
            return if case .awaited(let job) = state { job } else { UnownedJob?.none }
        }
        if let job { run(job) }
    }

    /// The value, for which it suspends; read once.
    ///
    /// Not nil: the job that reads it runs after ``keep(_:)``.
    var value: Value? {
        state.withLock { if case .kept(let value) = $0 { value } else { nil } }
    }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = state.withLock { state in
            if case .kept = state { return true }
            state = .awaited(job)
            return false
        }
        if isKept { run(job) }
    }

    private nonisolated func run(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedSerialExecutor())
    }
}
