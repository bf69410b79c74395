import AppService
import ModuleHostCore

extension TestHost {
    /// Waits for an event, for as long as the test has patience.
    ///
    /// - Parameters:
    ///   - what: The awaited event, for the error.
    ///   - time: The longest time; nil for the patience of the host.
    ///   - begin: Causes the event; receives the closure that reports it.
    /// - Returns: The reported value.
    /// - Throws: The reported error; ``TestHostError/patience(_:_:doing:log:)``; `CancellationError`.
    func wait<Value: Sendable>(
        for what: String, within time: Duration? = nil,
        _ begin: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        let promise = Promise<Result<Value, any Error>>()
        let time = time ?? settings.patience
        let alarm = SystemTimeSource.shared.schedule(after: time) { [host, log] in
            let module = host.moduleAtWork
            promise.keep(
                .failure(
                    TestHostError.patience(
                        what, time, doing: module?.text, log: log.lastLines)))
        }
        defer { alarm.cancel() }
        begin { promise.keep($0) }
        return try await withTaskCancellationHandler {
            try await promise.value.get()
        } onCancel: {
            promise.keep(.failure(CancellationError()))
        }
    }
}
