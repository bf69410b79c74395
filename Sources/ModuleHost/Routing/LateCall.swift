/// A call whose answer may come after its handler has returned.
///
/// It is the host's side of ``Reply`` and of asynchronous handlers. Any thread may answer it.
@usableFromInline
protocol LateCall: AnyObject, Sendable {
    /// Runs asynchronous code of the called module, and answers with its result.
    ///
    /// In the module: the code up to its first suspension has run when this returns.
    func run(_ handler: @escaping LateHandler)

    /// Answers the call, unless it has an answer.
    ///
    /// - Returns: False where it had an answer, or its caller no longer waits.
    @discardableResult
    func answer(_ result: Result<any Encodable & Sendable, any Error>) -> Bool

    /// Sets what is done where the caller no longer waits; it is done at once where that is so already.
    ///
    /// - Parameter body: Called at most once, on any thread.
    func whenCancelled(_ body: @escaping @Sendable () -> Void)
}

/// Asynchronous code of a module, which runs where the module is.
@usableFromInline
typealias LateHandler =
    nonisolated(nonsending) @Sendable () async throws -> any Encodable & Sendable
