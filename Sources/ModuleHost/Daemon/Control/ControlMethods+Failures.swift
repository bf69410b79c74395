import AppService

extension ControlMethods {
    /// Makes each failed or refused call, open, post and send log a line: the caller, the target, and the
    /// reason.
    ///
    /// In a flood, the first twenty are logged and then one a second, with the number of dropped lines, which is an entry of the
    /// record, too. A
    /// line contains neither a token nor the query of a URL nor parameters; only the error may quote the one
    /// invalid value.
    ///
    /// - Parameters:
    ///   - log: The log.
    ///   - time: The clock that measures the flood.
    ///   - ring: The record; nil for none.
    ///   - routes: Provides the routes, by which the log, unlike the caller, learns that a route exists which the caller
    ///     may not reach; nil to leave that out.
    package mutating func logFailures(
        to log: Log, time: any TimeSource, ring: RecordRing? = nil, routes: RoutesSource? = nil
    ) {
        let rateLimit = Guarded(OutputRateLimit(.init(burst: 20, perSecond: 1), at: time.now()))
        for method in Self.addLoad {
            guard let handler = self[method] else { continue }
            self[method] = { call in
                let (parameters, peer) = (call.parameters, call.peer)
                let reply = call.reply.noting { error in
                    let verdict = rateLimit.withLock { $0.take(at: time.now()) }
                    guard case .show(let dropped) = verdict else { return }
                    let subject = Subject(of: method, parameters)
                    let request = "\(method)\(subject.text(for: error))"
                    if dropped > 0 {
                        ring?.add(
                            .requestsFailed(
                                dropped + 1, last: "\(request) by \(peer.origin): \(error)",
                                processID: Int(peer.processID)))
                    }
                    let before =
                        dropped == 0
                        ? "" : " (\(dropped) earlier \(dropped == 1 ? "error" : "errors") omitted)"
                    @Sendable func write(_ note: String) {
                        log.write(
                            .notice,
                            "\(request) failed\(before): \(error)\(note)",
                            fields: [LogField("origin", "\(peer.origin)")])
                    }
                    guard error.code == .notFound, let routes else { return write("") }
                    routes { write((try? $0.get()).flatMap(subject.noteOfHidden) ?? "") }
                }
                handler(
                    Call(
                        peer: peer, parameters: call.parameters, reply: reply,
                        cancellation: call.cancellation,
                        onControlThread: call.onControlThread))
            }
        }
    }
}

/// The subject of a call, as far as the log may contain it.
private enum Subject: Sendable {
    case url(String)
    case action(module: String, String)
    case name(String)
    case none

    init(of method: String, _ parameters: JSONValue?) {
        func text(_ key: String) -> String? { parameters?[key]?.string }
        switch method {
        case "open", "canopen": self = text("url").map(Self.url) ?? .none
        case "call":
            if let module = text("module"), let action = text("action") {
                self = .action(module: module, action)
            } else {
                let word = text("module") ?? text("action")
                self = word.map { .name("of " + excerpt($0)) } ?? .none
            }
        case "post": self = text("topic").map { .name("on topic \(quoted($0))") } ?? .none
        case "send": self = text("event").map { .name("of " + quoted($0)) } ?? .none
        default: self = .none
        }
    }

    func text(for error: RPCError) -> String {
        switch self {
        case .none: ""
        case .action(let module, let action): " of \(excerpt(module)) \(excerpt(action))"
        case .name(let name): " \(name)"
        // In text that is not a URL a secret may stand anywhere.
        case .url(let text):
            (try? RouteURL(text)).map { " of " + excerpt($0.withoutQuery, limit: 200) } ?? ""
        }
    }

    /// Returns a note that a route exists which the caller may not reach; nil if none does.
    func noteOfHidden(in table: RouteTable) -> String? {
        switch self {
        case .url(let text):
            (try? RouteURL(text).separatingToken().url).flatMap { table.noteOfHidden($0) }
        case .action(let module, let action): table.noteOfHidden(action, of: module)
        case .name, .none: nil
        }
    }
}
