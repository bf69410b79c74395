/// A piece of start-up work, with its name, its dependencies and its closure.
///
/// ```swift
/// StartupTask("read settings", priority: .high) { try readSettings() }
/// StartupTask("log in", after: ["read settings"], deadline: .seconds(5)) { try await logIn() }
/// ```
///
/// Work runs once, on a thread of the queue, and may take as long as its deadline allows. Work that produces
/// a result hands it back in two steps, so that the consumer has it before a task that runs after this one
/// begins:
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
    public let name: String
    /// The names of the tasks that must have succeeded before this one begins, in any order.
    public let after: [String]
    var work: StartupWork
    /// The priority of the task, unless a higher one waits for it.
    public let priority: StartupPriority
    /// Whether the app requires this task.
    public internal(set) var required: Bool
    let deadlineNanoseconds: Int?
    /// The scope of the task; nil for a task that its queue keeps.
    package var scope: StartupScope?

    /// The deadline of the task, its hand-back included; nil means the queue's.
    ///
    /// Stored in nanoseconds; more than 292 years count as 292.
    public var deadline: Duration? {
        deadlineNanoseconds.map { .nanoseconds($0) }
    }

    /// Creates a task.
    ///
    /// - Parameters:
    ///   - name: The name of the task.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take; nil means the queue's deadline.
    ///   - required: Whether the app requires it.
    ///   - work: The work. Throwing fails the task.
    public init(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () throws -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .sync(work))
    }

    /// Creates an asynchronous task.
    ///
    /// It holds its place in the queue's width until it ends, also while it is suspended. It is cancelled
    /// when it is overdue, and when the queue stops.
    ///
    /// - Parameters:
    ///   - name: The name of the task.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take; nil means the queue's deadline.
    ///   - required: Whether the app requires it.
    ///   - work: The work. Throwing fails the task.
    public init(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () async throws -> Void
    ) {
        self.init(
            name, priority: priority, after: after, deadline: deadline, required: required,
            .async(work))
    }

    /// Creates a task that produces a result and hands it back.
    ///
    /// - Parameters:
    ///   - name: The name of the task.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take, hand-back included; nil means the queue's deadline.
    ///   - required: Whether the app requires it.
    ///   - work: Produces the result. Throwing fails the task.
    ///   - handBack: Passes the result to its consumer. Runs on the thread of the work, whose place in the width
    ///     is free when this returns; does not run for work that ended when the task was overdue. The task ends
    ///     when the receipt is used, which may be later.
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

    /// Creates an asynchronous task that produces a result and hands it back.
    ///
    /// - Parameters:
    ///   - name: The name of the task.
    ///   - priority: How soon it is needed.
    ///   - after: The names of the tasks that must have succeeded before.
    ///   - deadline: How long it may take, hand-back included; nil means the queue's deadline.
    ///   - required: Whether the app requires it.
    ///   - work: Produces the result. Throwing fails the task.
    ///   - handBack: Passes the result to its consumer, as for synchronous work.
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
    /// The hand-back does not count: it is the consumer's work.
    ///
    /// - Parameter report: Receives true at the beginning and false at the end.
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

/// The owner of tasks that its queue gives up together, such as an instance of a module; see
/// ``StartupQueue/close(_:)``.
package typealias StartupScope = any AnyObject & Sendable

/// The work of a task, with the type of its result erased.
///
/// Four cases rather than one closure that fits all: a plain task then costs no second closure.
enum StartupWork: Sendable {
    typealias HandBack = @Sendable (StartupReceipt) -> Void

    /// The work was taken, or will never run: the captures of the closure have been released.
    case gone
    case sync(@Sendable () throws -> Void)
    case async(@Sendable () async throws -> Void)
    case syncHandingBack(@Sendable () throws -> HandBack)
    case asyncHandingBack(@Sendable () async throws -> HandBack)
}

/// The outcome of the work of a task.
enum StartupResult: Sendable {
    case ended(StartupEnding)
    case handBack(StartupWork.HandBack)
}

/// The end of a task.
enum StartupEnding: Sendable {
    case succeeded
    case failed(String)
}

/// Ends a task whose result has been handed back.
///
/// The first of ``done()`` and ``fail(_:)`` counts; later ones, and those that come after the task's
/// deadline, change nothing. A receipt that is released without either fails the task.
public final class StartupReceipt: Sendable {
    private let queue: StartupQueue
    private let task: Int32
    private let numbering: Int

    init(queue: StartupQueue, task: Int32, numbering: Int) {
        self.queue = queue
        self.task = task
        self.numbering = numbering
    }

    deinit { end(.failed("its result was never taken")) }

    /// Marks the result as delivered: the task has succeeded, and the tasks that run after it may begin.
    public func done() { end(.succeeded) }

    /// Marks the result as refused: the task has failed.
    ///
    /// - Parameter error: The reason, as the report gives it.
    public func fail(_ error: any Error) { end(.failed("\(error)")) }

    private func end(_ ending: StartupEnding) { queue.handedBack(task, of: numbering, ending) }
}
