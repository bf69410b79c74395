import AppService

/// An event from the command line of `hostd send`, checked by the rules of the inbox.
struct SendArguments {
    let kind: EventKind
    let payload: JSONValue?
    let id: String?
    let source: String?
    let trace: TraceContext?
    /// Whether to respond only after the delivery.
    let waits: Bool

    /// Reads the payload and checks whether the event takes it.
    ///
    /// - Throws: ``InputFailure``, with the place in the payload where there is one.
    init(_ arguments: Arguments) throws(InputFailure) {
        guard let kind = EventKind(rawValue: arguments.operands[0]) else {
            throw InputFailure("\(Self.unknownEvent(arguments.operands[0]))")
        }
        self.kind = kind
        id = arguments["id"]
        source = arguments["source"]
        trace = arguments["traceparent"].flatMap { TraceContext($0) }
        waits = arguments.has("wait") || arguments.has("strict")
        var name = "the payload"
        if let option = arguments["payload"] {
            let bytes: [UInt8]
            (name, bytes) = try Self.bytes(of: option)
            do throws(JSONError) { payload = try JSONValue(parameter: bytes) } catch {
                throw InputFailure("\(name) is not JSON: \(error)")
            }
        } else {
            payload = nil
        }
        do throws(EventError) {
            _ = try LifecycleEvent(kind, payload: payload, origin: .inbox)
        } catch {
            throw InputFailure(error.text)
        }
        guard line.count <= Self.longestLine else {
            throw InputFailure(
                """
                \(name) is too long: with it the event has \(line.count) bytes, and may have \
                \(Self.longestLine)
                """)
        }
    }

    /// The room in a line of the control socket, beside the request around it.
    private static let longestLine = (1 << 20) - 1024

    /// The event as a line of the inbox.
    var line: [UInt8] {
        InboxRecord.line(
            kind, payload: payload, id: id, time: WallTime.now().iso8601, source: source,
            trace: trace)
    }

    /// Writes the parameters of the method `send`.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.members(
                ofSent: kind, payload: payload, id: id, source: source, traceparent: trace?.text)
            if waits, kind.isDurable { $0.member("wait", true) }
        }
    }
}

extension SendArguments {
    /// Returns the error in well-formed arguments, found without reading any file.
    static func usageError(in arguments: Arguments) -> String? {
        let name = arguments.operands[0]
        guard let kind = EventKind(rawValue: name) else { return unknownEvent(name) }
        if kind.isHostsOwn {
            return "event '\(name)' is given by the host itself, never from outside"
        }
        if kind.isDurable, arguments["payload"] == nil {
            return "event '\(name)' needs a payload: --payload with JSON, @FILE, or - for stdin"
        }
        if !kind.isDurable {
            if arguments.has("payload") { return "event '\(name)' takes no payload" }
            for option in ["id", "source", "traceparent"] where arguments.has(option) {
                return "event '\(name)' is not durable: it has no \(option)"
            }
        }
        if let id = arguments["id"], id.utf8.count > InboxRecord.longestID {
            return "an id has 1 to \(InboxRecord.longestID) bytes; this one has \(id.utf8.count)"
        }
        if let source = arguments["source"], source.utf8.count > InboxRecord.longestSource {
            return "a source has 1 to \(InboxRecord.longestSource) bytes; this one has "
                + "\(source.utf8.count)"
        }
        if let error = Command.traceError(in: arguments) { return error }
        if kind == .openURL, let payload = arguments["payload"], hasToken(payload) {
            return "the payload's URL has a token in it, which 'ps' shows to every user; "
                + "give it by --payload @FILE or -"
        }
        return nil
    }

    private static func unknownEvent(_ name: String) -> String {
        let names = EventKind.allCases.filter { !$0.isHostsOwn }.map(\.rawValue)
        let near = nearestName(to: name, in: names).map { "did you mean '\($0)'?" }
        return
            "unknown event '\(name)'; \(near ?? "there are \(names.joined(separator: ", "))")"
    }

    private static func hasToken(_ payload: String) -> Bool {
        guard let value = try? JSONValue(parsing: payload) else {
            return RouteToken.hide(in: payload) != payload
        }
        return value["url"]?.string.map(Command.hasToken) ?? false
    }

    /// Returns the bytes of the value of `--payload`, and their name for messages.
    private static func bytes(
        of option: String
    ) throws(InputFailure) -> (source: String, bytes: [UInt8]) {
        let limit = InboxLimits().line
        if option == "-" {
            guard let bytes = try RawInput.standardInputBytes(limit: limit) else {
                throw InputFailure("the payload on stdin is larger than 1 MiB")
            }
            return ("the payload on stdin", bytes)
        }
        guard option.hasPrefix("@") else { return ("the payload", Array(option.utf8)) }
        let path = String(option.dropFirst())
        do throws(FileReadError) {
            return (path, try readFile(at: path, limit: limit))
        } catch {
            throw InputFailure("\(error)", .noInput)
        }
    }
}

extension EventError {
    /// The error; each of several errors in the payload has a line of its own.
    fileprivate var text: TerminalText {
        guard case .payload(let error) = reason, error.diagnostics.count > 1 else {
            return "\(self)"
        }
        let lines = error.diagnostics.map { diagnostic -> TerminalText in "\n  \(diagnostic)" }
        return "event '\(kind.rawValue)' cannot take this payload:\(lines.joined())"
    }
}
