import AppService

/// Requests to a module's process, as in `docs/isolated-modules.md`.
extension JSONWriter {
    /// Writes the parameters of `event`.
    mutating func parameters(
        of event: LifecycleEvent, for module: ModuleID, deadline: Duration, isRepeated: Bool
    ) {
        object {
            $0.member("event", event.kind.rawValue)
            $0.payload(of: event, for: module)
            $0.members(of: event.origin)
            if let trace = event.trace { $0.member("traceparent", trace.text) }
            $0.member("deadlineMs", deadline.wholeNanoseconds / 1_000_000)
            if let entry = event.entry {
                $0.member("position", "\(entry.position)")
                if let id = entry.id { $0.member("id", id) }
                if let source = entry.source { $0.member("source", source) }
                $0.member("attempt", entry.attempt)
            }
            if isRepeated { $0.member("repeated", true) }
        }
    }

    private mutating func payload(of event: LifecycleEvent, for module: ModuleID) {
        if case .configuration(let reload) = event.content {
            guard let change = reload.change(for: module) else { return }
            return member("payload") { json in
                json.object {
                    $0.member("config", change.config ?? .emptyObject)
                    $0.member("appConfig", change.appConfig ?? .emptyObject)
                    $0.member("changed", change.isChanged)
                }
            }
        }
        event.writePayload(as: "payload", to: &self)
    }

    /// Writes the parameters of `call`.
    mutating func parameters(
        of route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall,
        _ trace: TraceContext?
    ) {
        object {
            $0.member("action", route.name)
            $0.member("parameters", parameters, isList: route.isList)
            $0.members(of: call.origin)
            if let url = call.url { $0.member("url", url.text) }
            if let trace { $0.member("traceparent", trace.text) }
        }
    }

    /// Writes an origin as text, for people, and as a value.
    private mutating func members(of origin: Origin) {
        member("origin", "\(origin)")
        member("from", origin)
    }
}

extension JSONWriter {
    /// Writes a member with the values of parameters.
    ///
    /// - Parameters:
    ///   - isList: Returns whether a parameter of this name has an array of values even where it has one.
    mutating func member(
        _ key: String, _ parameters: RouteParameters,
        isList: (String) -> Bool = { _ in false }
    ) {
        member(key) {
            $0.object { json in
                for (name, values) in parameters.all {
                    json.member(name) {
                        if values.count == 1, !isList(name) {
                            $0.value(values[0])
                        } else {
                            $0.array { json in for value in values { json.value(value) } }
                        }
                    }
                }
            }
        }
    }
}

// MARK: Requests of the process

private struct CallParameters: Decodable {
    let module: String
    let action: String
    let parameters: JSONValue?
    /// The sender outside the app on whose behalf the call is made: it reaches only the routes of that sender.
    let from: JSONValue?
    /// Whether the answer may come later; true where it is missing.
    let later: Bool?
    let traceparent: TraceContext?
}

private struct ApplyParameters: Decodable {
    let slatefile: String
    let probationMs: Int?
}

private struct URLParameters: Decodable {
    let url: String
    let from: JSONValue?
    let later: Bool?
    let traceparent: TraceContext?
}

extension ModuleProcess {
    /// Handles a request of the process, as its module would, and responds.
    ///
    /// In the module.
    ///
    /// - Parameter id: The id of the request; nil where it wants no response.
    func answer(_ request: RPCRequest, _ id: RPCID?, for module: IsolatedModule) {
        do throws(RPCError) {
            try carryOut(request, id, for: module)
        } catch {
            if id == nil {
                if error.code == .tooMany, module.posts.noteUnheeded() {
                    violate(
                        "posted \(PostLimit.patience) events more than can be delivered, "
                            + "without waiting for an answer")
                }
                warn(request, error, at: module.context.host.services.time.now())
            }
            fail(id, error)
        }
    }

    /// Logs that a notification of the process failed.
    func warn(_ request: RPCRequest, _ error: RPCError, at now: ContinuousClock.Instant) {
        warn("'\(excerpt(request.method))' of its process: \(error)", at: now)
    }

    private func carryOut(
        _ request: RPCRequest, _ id: RPCID?, for module: IsolatedModule
    ) throws(RPCError) {
        let context = module.context
        switch request.method {
        case "log": succeed(id) { $0.null() }
        case "ready":
            succeed(id) { $0.null() }
            module.endPause()
        case "unresponsive":
            succeed(id) { $0.null() }
            module.awaitResponse()
        case "call":
            let call = try request.parameters(as: CallParameters.self)
            let origin = try module.origin(of: call.from)
            try module.respond(to: id, canWait: call.later ?? true, in: call.traceparent) {
                try context.mediator.perform(
                    call.module, call.action, RouteParameters(call.parameters ?? .emptyObject),
                    from: origin, later: $0, isNested: $1)
            }
        case "open":
            let asked = try request.parameters(as: URLParameters.self)
            let origin = try module.origin(of: asked.from)
            try module.respond(to: id, canWait: asked.later ?? true, in: asked.traceparent) {
                try context.router.open(asked.url, from: origin, later: $0, isNested: $1)
            }
        case "canopen":
            let asked = try request.parameters(as: URLParameters.self)
            let origin = try module.origin(of: asked.from)
            let canOpen = context.router.canOpen(asked.url, from: origin)
            succeed(id) { $0.value(canOpen) }
        case "post":
            let message = try request.parameters(as: PostRequest.self)
            let event: LifecycleEvent
            do throws(EventError) {
                event = try .message(
                    topic: message.topic, payload: message.payload, origin: .local(context.id)
                ).traced(by: module.trace(message.traceparent))
            } catch {
                throw .invalidParameters("\(error)")
            }
            try post(event, id, for: module) { $0.null() }
        case "send":
            // One that is durable is taken where the process is read; see ``ModuleSends``.
            let sent = try ModuleSends.event(in: request, from: context.id)
            guard context.slot.permissions.contains(.state) else {
                throw .mayNotSend(sent.event.kind)
            }
            try post(sent.event, id, for: module) { $0.object { _ in } }
        case "apply":
            let asked = try request.parameters(as: ApplyParameters.self)
            guard context.slot.permissions.contains(.apply) else { throw .mayNotApply }
            // The answer may come long after, and to a process that has ended meanwhile.
            context.host.services.apply(
                slatefile: asked.slatefile,
                probation: asked.probationMs.map { .milliseconds($0) }, from: context.id
            ) { [weak self] result in
                switch result {
                case .success(let change):
                    self?.succeed(id) { json in
                        json.object {
                            $0.member("changed", change.isChange)
                            $0.member("summary", change.summary)
                        }
                    }
                case .failure(let refusal): self?.fail(id, RPCError(refusal))
                }
            }
        default:
            throw .methodNotFound(
                "a module may ask for log, ready, call, open, canopen, post, send and apply, "
                    + "not for \(quoted(request.method))")
        }
    }

    /// Posts an event of the module, and responds; where there is no room for the event, when there is.
    private func post(
        _ event: LifecycleEvent, _ id: RPCID?, for module: IsolatedModule,
        _ result: @escaping @Sendable (inout JSONWriter) -> Void
    ) throws(RPCError) {
        let services = module.context.host.services
        guard let id else {
            _ = try module.posts.post(event, to: services)
            return
        }
        let waits = try module.posts.post(event, to: services) { [weak self] in
            var json = JSONWriter(capacity: 64)
            json.rpcResult(id: id, result)
            self?.send(json.bytes)
        }
        guard waits else { return succeed(id, result) }
        // The process may post in an event, and wait for the response in it: the events before need the lane.
        if queue.isExchanging, services.isOnLane { services.yieldLane(again: true) }
    }

}

extension IsolatedModule {
    /// Returns the origin on whose behalf the process makes a call; nil for the module itself.
    ///
    /// - Throws: An error where the origin cannot be read, or the process may not act on its behalf: as a
    ///   call of the module itself, the call would reach more routes.
    fileprivate func origin(of value: JSONValue?) throws(RPCError) -> Origin? {
        guard let value else { return nil }
        guard let origin = Origin(value) else {
            throw .invalidParameters(
                "'from' is not an origin: \(excerpt(value.text)); give the one of the event or call "
                    + "that the URL came with, as the host sent it")
        }
        guard deliveredOrigins.contains(origin, for: context.id) else {
            throw .mayNotActFor("\(origin)")
        }
        return origin
    }
}

extension RPCError {
    fileprivate static func mayNotActFor(_ origin: String) -> RPCError {
        .invalidParameters(
            "\(quoted(origin)) is not an origin that this module can act for: give the one of an event or "
                + "call that came from outside, as the host sent it, or none to act for the module itself"
        )
    }

    fileprivate static let mayNotApply = RPCError(
        .notPermitted,
        "a module in a process of its own cannot apply a slatefile: to let it, add \"may\": [\"apply\"] to its "
            + "entry in the slatefile")

    /// Creates the error about a slatefile that did not take effect.
    fileprivate init(_ refusal: SlatefileRefusal) {
        switch refusal {
        case .invalid, .unreadable: self = .invalidParameters("\(refusal)")
        case .undone(let reason): self.init(.failed, reason)
        case .refused: self.init(.overloaded, "\(refusal)")
        case .noFile: self.init(.unavailable, "\(refusal)")
        case .stopped: self.init(.notRunning, "\(refusal)")
        }
    }

    fileprivate static func mayNotSend(_ kind: EventKind) -> RPCError {
        // In the message, which every client shows.
        RPCError(
            .notPermitted,
            "a module in a process of its own cannot send '\(kind.rawValue)', which concerns the whole app: "
                + "to let it, add \"may\": [\"state\"] to its entry in the slatefile")
    }
}

extension RPCRequest {
    func parameters<T: Decodable>(as type: T.Type) throws(RPCError) -> T {
        do throws(JSONError) {
            return try (parameters ?? .emptyObject).decode(type)
        } catch {
            throw .invalidParameters("\(error)")
        }
    }
}
