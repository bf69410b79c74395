/// The error of tasks that a queue cannot take: it lists every problem that was found, and none of the tasks
/// has begun.
public struct StartupError: Error, Hashable, Sendable {
    /// The problems, in order of registration; never empty.
    public let diagnostics: [Diagnostic]

    /// The kinds of problem, each with the values its message needs.
    @nonexhaustive public enum Diagnostic: Hashable, Sendable {
        /// A task has no name.
        case emptyName
        /// Another task of the queue has this name.
        case duplicateName(String)
        /// No task has this name, which is in the `after` of task `of`; `nearest` is the most similar name.
        case unknownDependency(String, of: String, nearest: String?)
        /// Tasks wait for each other: each runs after the next one; the first is repeated at the end.
        case cycle([String])
        /// A deadline is not longer than zero: that of a task or, where `of` is nil, of the queue.
        case deadline(Duration, of: String?)
        /// The width of the queue is less than one task at a time.
        case width(Int)
        /// The task was registered after the queue was closed.
        case closed(String)
    }
}

extension StartupError: CustomStringConvertible {
    /// One line for each problem.
    public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

extension StartupError.Diagnostic: CustomStringConvertible {
    /// The problem in words.
    public var description: String {
        switch self {
        case .emptyName:
            "a start-up task has an empty name; give it one"
        case .duplicateName(let name):
            "there is a start-up task '\(name)' already; names are unique"
        case .unknownDependency(let name, let task, let nearest?):
            "start-up task '\(task)' runs after '\(name)', which does not exist; "
                + "did you mean '\(nearest)'?"
        case .unknownDependency(let name, let task, nil):
            "start-up task '\(task)' runs after '\(name)', which does not exist"
        case .cycle(let names):
            "start-up tasks wait for each other: \(names.joined(separator: " → "))"
        case .deadline(let deadline, let task?):
            "start-up task '\(task)' has a deadline of \(deadline.briefText); "
                + "it must be longer than zero"
        case .deadline(let deadline, nil):
            "the start-up queue has a deadline of \(deadline.briefText); "
                + "it must be longer than zero"
        case .width(let width):
            "the start-up queue has a width of \(width); it must be at least 1"
        case .closed(let name):
            "start-up task '\(name)' came after the queue was closed"
        }
    }
}
