extension ControlMethods {
    /// Gives the table of routes, or why there is none, to whoever asks for it: once, on any thread.
    package typealias RoutesSource =
        @Sendable (_ completion: @escaping @Sendable (Result<RouteTable, any Error>) -> Void) ->
        Void

    /// Adds `routes`, the URI document: `{"format": "text" | "json" | "markdown" | "html"}`.
    ///
    /// Without a format it is JSON. JSON is the result itself, anything else a string.
    ///
    /// - Parameters:
    ///   - app: The app's name.
    ///   - source: Where the current table comes from.
    package mutating func add(routesOf app: String, from source: @escaping RoutesSource) {
        add("routes", RoutesParameters.self) { parameters, call in
            source { result in
                switch result {
                case .success(let table):
                    let format = parameters.format ?? .json
                    do {
                        // Requests are described by decoding them, which is code of the modules': neither
                        // the lane nor the control socket waits for it.
                        try NativeThread.start(name: "routes") {
                            answer(call, URIDocument(table, app: app), format)
                        }
                    } catch {
                        call.reply.fail(RPCError(.internalError, "\(error)"))
                    }
                case .failure(let error): call.reply.fail(RPCError(.notRunning, "\(error)"))
                }
            }
        }
    }
}

private func answer(
    _ call: ControlMethods.Call, _ document: URIDocument, _ format: URIDocument.Format
) {
    switch format {
    case .json: call.reply.succeed { document.write(to: &$0) }
    case .text, .markdown, .html:
        call.reply.succeed { $0.value(document.rendered(as: format)) }
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
