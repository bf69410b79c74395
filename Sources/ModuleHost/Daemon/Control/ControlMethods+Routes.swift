extension ControlMethods {
    /// Passes the table of routes, or the reason why there is none, to the caller: once, on any thread.
    package typealias RoutesSource =
        @Sendable (_ completion: @escaping @Sendable (Result<RouteTable, any Error>) -> Void) ->
        Void

    /// Adds `routes`, the URI document: `{"format": "text" | "json" | "markdown" | "html"}`.
    ///
    /// Without a format it is JSON. JSON is the result itself, anything else a string.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - source: Provides the current table.
    package mutating func add(routesOf app: String, from source: @escaping RoutesSource) {
        let desk = DocumentDesk(app: app)
        add("routes", RoutesParameters.self) { parameters, call in
            source { result in
                switch result {
                case .success(let table):
                    desk.take(call.reply, parameters.format ?? .json, of: table)
                case .failure(let error): call.reply.fail(RPCError(.notRunning, "\(error)"))
                }
            }
        }
    }
}

/// The renderer of URI documents, for all callers.
///
/// Requests are described by decoding them, which runs module code: neither the lane nor the control socket
/// waits for it. One thread does it, which lives while a caller waits; callers that arrive meanwhile share
/// the next document, so that thousands cost as much as one.
private final class DocumentDesk: Sendable {
    private typealias Replies = [(reply: RPCReply, format: URIDocument.Format)]

    private struct State {
        /// The newest table; nil if no caller waits.
        var table: RouteTable?
        var replies: Replies = []
        var isAtWork = false
    }

    private let app: String
    private let state = Guarded(State())

    init(app: String) { self.app = app }

    /// Responds with the document of a table, or of a newer one.
    func take(_ reply: RPCReply, _ format: URIDocument.Format, of table: RouteTable) {
        let isIdle = state.withLock { state in
            state.table = table
            state.replies.append((reply, format))
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard isIdle else { return }
        do {
            try NativeThread.start(name: "routes") { [self] in
                while let (table, replies) = next() {
                    answer(replies, URIDocument(table, app: app))
                }
            }
        } catch {
            while let (_, replies) = next() {
                for (reply, _) in replies { reply.fail(RPCError(.internalError, "\(error)")) }
            }
        }
    }

    /// Takes all waiting callers; if there are none, the work is over.
    private func next() -> (table: RouteTable, replies: Replies)? {
        state.withLock { state in
            guard let table = state.table else {
                state.isAtWork = false
                return nil
            }
            let replies = state.replies
            (state.table, state.replies) = (nil, [])
            return (table, replies)
        }
    }

    private func answer(_ replies: Replies, _ document: URIDocument) {
        for (format, replies) in Dictionary(grouping: replies, by: \.format) {
            var json = JSONWriter()
            switch format {
            case .json: document.write(to: &json)
            case .text, .markdown, .html: json.value(document.rendered(as: format))
            }
            for (reply, _) in replies { reply.succeed(raw: json.bytes) }
        }
    }
}

private struct RoutesParameters: Decodable {
    let format: URIDocument.Format?

    private enum Key: CodingKey {
        case format
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let name = try members.decodeIfPresent(String.self, forKey: .format)
        format = name.flatMap(URIDocument.Format.init)
        if let name, format == nil {
            let names = URIDocument.Format.allCases.map { "'\($0.rawValue)'" }
            throw DecodingError.dataCorruptedError(
                forKey: .format, in: members,
                debugDescription:
                    "expected one of \(names.joined(separator: ", ")), found \(quoted(name))")
        }
    }
}
