extension HostClient {
    /// Follows the log of the host, from now on, over a connection of its own.
    ///
    /// ```swift
    /// for await line in try await client.tail() { print(line) }
    /// ```
    ///
    /// Ends with the host, with the task, or when the sequence is released. The host never waits: a follower
    /// that is too slow loses the oldest lines, and receives their number.
    ///
    /// - Parameter time: The longest wait for the connection, and for its first response; nil for no limit.
    /// - Returns: The lines.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func tail(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> Tail {
        let client = try HostClient(to: directory, within: time ?? Self.patience)
        _ = try await client.request("tail", within: time)
        return Tail(client: client)
    }

    /// The lines of the log of a host; for one task.
    public struct Tail: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// A line, or the number of lines that were lost.
        @nonexhaustive public enum Element: Sendable {
            /// A line of the log: an object with the members of a line of `--log-format json`.
            case line(JSONValue)
            /// As many lines are missing here, because they were read too slowly.
            case lost(Int)
        }

        fileprivate let client: HostClient

        /// Returns the lines themselves.
        public func makeAsyncIterator() -> Tail { self }

        /// Waits for the next line.
        ///
        /// - Returns: The line; nil at the end of the host, or of the task.
        public nonisolated(nonsending) func next() async -> Element? {
            let connection = client.connection
            while true {
                let news = await withTaskCancellationHandler {
                    await withCheckedContinuation { continuation in
                        connection.takeNotification { continuation.resume(returning: $0) }
                    }
                } onCancel: {
                    connection.close()
                }
                guard let news, !Task.isCancelled else { return nil }
                guard let what = news.parameters else { continue }
                if news.method == "lost" { return .lost(what["lost"]?.int ?? 0) }
                return .line(what)
            }
        }
    }
}
