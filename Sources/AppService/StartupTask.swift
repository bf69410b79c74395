/// A piece of start-up work: what it is called, what it waits for, and what it does.
///
/// ```swift
/// StartupTask("read settings", priority: .high) { try readSettings() }
/// StartupTask("log in", after: ["read settings"], deadline: .seconds(5)) { try await logIn() }
/// ```
///
/// Work runs once, on a thread of the queue, and may take as long as its deadline allows. Work that
/// produces something hands it back in two steps, so that its user has it before a task that
/// runs after this one begins:
///
/// ```swift
/// StartupTask("load feed") {
///     try loadFeed()
/// } handBack: { feed, receipt in
///     DispatchQueue.main.async {
///         screen.show(feed)
///         receipt.done()
///     }
/// }
/// ```
public struct StartupTask: Sendable {
    /// The name of the task: unique in its queue, and not empty.
    public internal(set) var name: String
    /// The names of the tasks that must have succeeded before this one begins, in any order.
    public let after: [String]
    var work: StartupWork
    /// The priority of the task, unless a higher one waits for it.
    public let priority: StartupPriority
    /// Whether the app cannot do without this task.
    public internal(set) var required: Bool
    let deadlineNanoseconds: Int?

    /// The deadline of the task, with its hand-back; nil for the queue's.
    ///
    /// Held in nanoseconds; more than 292 years count as 292.
    public var deadline: Duration? {
        deadlineNanoseconds.map { .nanoseconds($0) }
    }

    /// A task that does something.
    ///
    /// - Parameters:
    ///   - name: What the task is called.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take; nil means as long as the queue says.
    ///   - required: Whether the app cannot do without it.
    ///   - work: What it does. Throwing fails the task.
    public init(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () throws -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .sync(work))
    }

    /// A task that does something asynchronously.
    ///
    /// It holds its place in the queue's width until it
    /// ends, also while it is suspended. It is cancelled when it is overdue, and when the queue stops.
    ///
    /// - Parameters:
    ///   - name: What the task is called.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take; nil means as long as the queue says.
    ///   - required: Whether the app cannot do without it.
    ///   - work: What it does. Throwing fails the task.
    public init(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () async throws -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .async(work))
    }

    /// A task that produces something and hands it back.
    ///
    /// - Parameters:
    ///   - name: What the task is called.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take, hand-back included; nil means as long as the queue says.
    ///   - required: Whether the app cannot do without it.
    ///   - work: Makes the result. Throwing fails the task.
    ///   - handBack: Takes the result to its user. Runs on the thread of the work, which by
    ///     then has given up its place in the width; not at all when the task is overdue. The task
    ///     ends when the receipt is given.
    public init<Value: Sendable>(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () throws -> Value,
        handBack: @escaping @Sendable (Value, StartupReceipt) -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .syncHandingBack {
                let value = try work()
                return { handBack(value, $0) }
            })
    }

    /// A task that produces something asynchronously and hands it back.
    ///
    /// - Parameters:
    ///   - name: What the task is called.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take, hand-back included; nil means as long as the queue says.
    ///   - required: Whether the app cannot do without it.
    ///   - work: Makes the result. Throwing fails the task.
    ///   - handBack: Takes the result to its user, as for synchronous work.
    public init<Value: Sendable>(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () async throws -> Value,
        handBack: @escaping @Sendable (Value, StartupReceipt) -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .asyncHandingBack {
                let value = try await work()
                return { handBack(value, $0) }
            })
    }

    private init(
        _ name: String, priority: StartupPriority, after: [String], deadline: Duration?,
        required: Bool, _ work: StartupWork
    ) {
        self.name = name
        self.priority = priority
        self.after = after
        deadlineNanoseconds = deadline?.wholeNanoseconds
        self.required = required
        self.work = work
    }
}

extension StartupTask {
    /// Observes where the work begins and where it has ended, on whatever thread that is.
    ///
    /// The hand-back does not count: it is another's work.
    ///
    /// - Parameter report: Told true at the beginning and false at the end.
    package mutating func observeWork(_ report: @escaping @Sendable (_ begins: Bool) -> Void) {
        switch work {
        case .gone: break
        case .sync(let body):
            work = .sync {
                report(true)
                defer { report(false) }
                try body()
            }
        case .async(let body):
            work = .async {
                report(true)
                defer { report(false) }
                try await body()
            }
        case .syncHandingBack(let body):
            work = .syncHandingBack {
                report(true)
                defer { report(false) }
                return try body()
            }
        case .asyncHandingBack(let body):
            work = .asyncHandingBack {
                report(true)
                defer { report(false) }
                return try await body()
            }
        }
    }
}

/// The work of a task, with the type of its result erased.
///
/// Four cases rather than one closure that fits all: a plain task then costs no second closure.
enum StartupWork: Sendable {
    typealias HandBack = @Sendable (StartupReceipt) -> Void

    /// Taken, or never to run: what the closure held has been released.
    case gone
    case sync(@Sendable () throws -> Void)
    case async(@Sendable () async throws -> Void)
    case syncHandingBack(@Sendable () throws -> HandBack)
    case asyncHandingBack(@Sendable () async throws -> HandBack)
}

/// The end of the work of a task.
enum StartupEnding: Sendable {
    case succeeded
    case failed(String)
    case handBack(StartupWork.HandBack)
}

/// Ends a task whose result has been handed back.
///
/// The first of ``done()`` and ``fail(_:)`` counts; later ones, and those that come after the task's
/// deadline, change nothing. A receipt that is released without either fails the task.
public final class StartupReceipt: Sendable {
    private let queue: StartupQueue
    private let task: Int32

    init(queue: StartupQueue, task: Int32) {
        self.queue = queue
        self.task = task
    }

    deinit { queue.handedBack(task, .failed("its result was never taken")) }

    /// The result is where it belongs: the task has succeeded, and what runs after it may begin.
    public func done() { queue.handedBack(task, .succeeded) }

    /// The result could not be taken: the task has failed.
    ///
    /// - Parameter error: Why, as the report will say it.
    public func fail(_ error: any Error) { queue.handedBack(task, .failed("\(error)")) }
}
