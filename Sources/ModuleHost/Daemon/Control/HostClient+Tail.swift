extension HostClient {
    /// Follows the log of the host, over a connection of its own.
    ///
    /// ```swift
    /// for await line in try await client.tail(of: store, level: .debug) { print(line) }
    /// ```
    ///
    /// Ends with the host, with the task, or when the sequence is released. The host never waits: a follower
    /// that is too slow loses the oldest lines, and receives their number.
    ///
    /// - Parameters:
    ///   - module: The module that wrote the lines, or that they name; nil for all lines.
    ///   - event: The event that lines belong to; nil for all lines.
    ///   - level: The least level of the lines, whatever level the log of the host has.
    ///   - count: The number of lines to begin with, of those that were logged before; 0 to 1000.
    ///   - time: The longest wait for the connection, and for its first response; nil for no limit.
    /// - Returns: The lines.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func tail(
        of module: ModuleID? = nil, event: EventKind? = nil, level: LogLevel = .info,
        last count: Int = 0, within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> Tail {
        let client = try HostClient(to: directory, within: time ?? Self.patience)
        _ = try await client.request("tail", within: time) {
            Self.writeTail(
                of: module?.text, event: event?.rawValue, level: level.rawValue, last: count,
                since: nil, to: &$0)
        }
        return Tail(client: client)
    }

    /// Writes the parameters of `tail`.
    package static func writeTail(
        of module: String?, event: String?, level: String?, last count: Int, since: String?,
        to json: inout JSONWriter
    ) {
        json.object {
            $0.member("last", count)
            if let since { $0.member("since", since) }
            if let module { $0.member("module", module) }
            if let event { $0.member("event", event) }
            if let level { $0.member("level", level) }
        }
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
