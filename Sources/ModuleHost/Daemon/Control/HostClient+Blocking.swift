import AppService

/// The same connection for a thread that waits, such as that of a command.
extension HostClient {
    /// Calls a method and blocks the thread until the response is there.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - id: The number of the call on the connection; nil for the next one.
    ///   - time: The longest wait; nil for no limit.
    ///   - parameters: Writes an array or an object.
    /// - Returns: The result.
    /// - Throws: ``HostClientError``.
    package func call(
        _ method: String, as id: Int? = nil, within time: Duration? = HostClient.patience,
        _ parameters: (inout JSONWriter) -> Void = { $0.object { _ in } }
    ) throws(HostClientError) -> JSONValue {
        let future = BlockingFuture<Result<JSONValue, HostClientError>>()
        connection.call(method, as: id ?? connection.nextID(), within: time, parameters) {
            future.keep($0)
        }
        guard let result = future.take() else { throw .ended(directory) }
        return try result.get()
    }

    /// Blocks the thread until there is a notification.
    ///
    /// - Returns: The notification, or nil where the host has closed the connection.
    package func nextNotification() -> RPCRequest? {
        let future = BlockingFuture<RPCRequest?>()
        connection.takeNotification { future.keep($0) }
        return future.take() ?? nil
    }

    /// Blocks the thread until the host has closed the connection, as it does when it ends.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: False on a timeout.
    package func waitForEnd(within time: Duration?) -> Bool {
        let latch = BlockingFuture<Bool>()
        // Kept once: by the end, or by the alarm.
        let end = Completion<Bool, HostClientError>(orAbandoned: .ended(directory)) { result in
            latch.keep((try? result.get()) ?? true)
        }
        connection.whenEnded { end.finish(.success(true)) }
        if let time {
            end.set(SystemTimeSource.shared.schedule(after: time) { end.finish(.success(false)) })
        }
        return latch.take() ?? true
    }
}
