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
        // Requests are described by decoding them, which runs module code.
        let desk = AnswerDesk<RouteTable, URIDocument, URIDocument.Format>("routes") {
            URIDocument($0, app: app)
        } write: { document, format, json in
            switch format {
            case .json: document.write(to: &json)
            case .text, .markdown, .html: json.value(document.rendered(as: format))
            }
        }
        add("routes", FormatParameters<URIDocument.Format>.self) { parameters, call in
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
