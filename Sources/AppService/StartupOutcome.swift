/// The outcome of a task.
public enum StartupOutcome: Hashable, Sendable {
    /// The task did its work, and its result was handed back.
    case succeeded
    /// The task threw, or its result could not be handed back; the error in words.
    case failed(String)
    /// The task did not end within this time.
    case overdue(Duration)
    /// The task was not run.
    case skipped(StartupSkip)
}

/// The reason why a task was not run.
public enum StartupSkip: Hashable, Sendable {
    /// The queue was stopped before the task began.
    case stopped
    /// A task that it runs after, `dependency`, did not succeed. `root` is the task that failed first, which
    /// may be
    /// `dependency` itself, and `cause` is how `root` ended.
    case dependency(String, root: String, cause: String)
}

extension StartupOutcome: CustomStringConvertible {
    /// The outcome in words, such as `failed: no route to host`.
    public var description: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed(let error): "failed: \(error)"
        case .overdue(let deadline): "overdue after \(deadline.briefText)"
        case .skipped(let reason): "skipped: \(reason)"
        }
    }
}

extension StartupSkip: CustomStringConvertible {
    /// The reason in words, such as `it runs after 'b', which failed: disk full`.
    public var description: String {
        switch self {
        case .stopped:
            "the queue was stopped"
        case .dependency(let name, let root, let cause) where name == root:
            "it runs after '\(name)', which \(cause)"
        case .dependency(let name, let root, let cause):
            "it runs after '\(name)', which was skipped because '\(root)' \(cause)"
        }
    }
}

extension StartupOutcome {
    /// The outcome in words that continue a sentence after the name of the task.
    var asCause: String {
        switch self {
        case .succeeded, .failed: description
        case .overdue, .skipped: "was \(self)"
        }
    }
}

/// An event in the life of a task, for a log.
@nonexhaustive public enum StartupEvent: Hashable, Sendable {
    /// The task's work is about to begin on this worker.
    case started(task: String, worker: Int)
    /// The task ended with this outcome, this long after it began; zero where it was not run.
    case ended(task: String, StartupOutcome, after: Duration)
    /// The work of a task that was overdue ended at last, this long after it began.
    case endedLate(task: String, after: Duration)
}
