extension ControlMethods {
    /// Gives a table of routes to whoever asks for it, once, on any thread.
    package typealias RoutesSource =
        @Sendable (_ completion: @escaping @Sendable (RouteTable) -> Void) -> Void

    /// Adds `routes`, the URI document: `{"format": "text" | "json" | "markdown" | "html"}`.
    ///
    /// Without a format it is JSON. JSON is the result itself, anything else a string.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - source: Where the current table comes from.
    package mutating func add(routesOf app: String, from source: @escaping RoutesSource) {
        add("routes", RoutesParameters.self) { parameters, call in
            source { table in
                let document = URIDocument(table, app: app)
                switch parameters.format ?? .json {
                case .json: call.reply.succeed { document.write(to: &$0) }
                case let format:
                    call.reply.succeed { $0.value(document.rendered(as: format)) }
                }
            }
        }
    }
}

private struct RoutesParameters: Decodable {
    var format: URIDocument.Format?
}
