import AppService

/// The parameters of `send`.
struct ControlSendParameters: Decodable, Sendable {
    let event: String
    let payload: JSONValue?
    let id: String?
    let source: String?
    let traceparent: TraceContext?
    /// Whether to respond only after the delivery.
    let wait: Bool?
}

extension ControlSendParameters: PlainlyDecodable {
    init?(plain value: JSONValue) {
        guard value.kind == .object, let event = value["event"]?.string else { return nil }
        var (payload, id, source, wait): (JSONValue?, String?, String?, Bool?)
        var trace: TraceContext?
        for member in value.members {
            switch member.key {
            case "event": break
            case "payload": payload = member.value.isNull ? nil : member.value
            case "id":
                guard let text = member.value.string else { return nil }
                id = text
            case "source":
                guard let text = member.value.string else { return nil }
                source = text
            case "traceparent":
                guard let found = TraceContext(plain: member.value) else { return nil }
                trace = found
            case "wait":
                guard let bool = member.value.bool else { return nil }
                wait = bool
            default: return nil
            }
        }
        self.init(
            event: event, payload: payload, id: id, source: source, traceparent: trace, wait: wait)
    }
}

extension ControlMethods {
    /// Adds `send`.
    ///
    /// An event with a payload goes through the inbox, and the response is sent when it is on the disk; a
    /// state event and a memory warning are delivered directly, and the response is sent after the delivery.
    ///
    /// - Parameters:
    ///   - inbox: The inbox; nil to refuse events with a payload.
    ///   - host: The host for all others.
    mutating func add(_ inbox: Inbox?, of host: AppHost) {
        add("send", ControlSendParameters.self) { parameters, call in
            guard !host.isStopping else {
                return call.reply.fail(RPCError(ofCall: RouteError.stopped))
            }
            do throws(RPCError) {
                let request = try SendRequest(
                    parameters.event, payload: parameters.payload, id: parameters.id,
                    source: parameters.source, trace: parameters.traceparent,
                    from: call.peer.origin)
                guard request.record != nil || parameters.traceparent == nil else {
                    throw .invalidParameters(
                        "event '\(parameters.event)' is not durable: it has no traceparent")
                }
                if let record = request.record {
                    guard let inbox else { throw .notAccepted(InboxRefusal.none) }
                    inbox.submit(record, waits: parameters.wait == true, for: call.reply)
                } else {
                    host.deliver(request.event, for: call.reply)
                }
            } catch {
                call.reply.fail(error)
            }
        }
    }
}

extension AppHost {
    /// Delivers an event that is not durable, and responds after the delivery.
    fileprivate func deliver(_ event: LifecycleEvent, for reply: RPCReply) {
        guard let change = event.kind.stateChange, event.kind != .terminate else {
            deliver(event)
            return answer(reply, event.kind) { nil }
        }
        let ignored = Guarded<LifecycleState?>(nil)
        enqueue(
            .change(change, origin: event.origin) { state in ignored.withLock { $0 = state } })
        answer(reply, event.kind) { ignored.withLock { $0 } }
    }

    /// Responds when everything enqueued before was delivered.
    private func answer(
        _ reply: RPCReply, _ kind: EventKind,
        _ ignored: @escaping @Sendable () -> LifecycleState?
    ) {
        guard kind != .terminate else { return reply.succeed { $0.object { _ in } } }
        gate.lane.enqueue(
            LaneWork { _ in
                reply.succeed { json in
                    json.object {
                        if let state = ignored() {
                            $0.member("ignored", "the app is \(state.inWords)")
                        }
                    }
                }
            } onAbandon: {
                reply.fail(RPCError(ofCall: RouteError.stopped))
            })
    }
}

extension Inbox {
    fileprivate func submit(_ record: InboxRecord, waits: Bool, for reply: RPCReply) {
        let (id, line) = (record.id, record.line)
        guard waits else {
            return submit(
                InboxSubmission(line: line, id: id, record: record) { fate in
                    if case .accepted(let position) = fate {
                        reply.succeed { $0.acceptance(id, position, nil) }
                    } else {
                        reply.refuse(fate, id)
                    }
                })
        }
        let accepted = Guarded<EventPosition?>(nil)
        submit(
            InboxSubmission(line: line, id: id, record: record) { fate in
                if case .accepted(let position) = fate {
                    accepted.withLock { $0 = position }
                } else {
                    reply.refuse(fate, id)
                }
            } onDelivery: { outcome in
                guard let position = accepted.withLock({ $0 }) else { return }
                if case .duplicate = outcome { return reply.succeed { $0.duplicate(id) } }
                reply.succeed { $0.acceptance(id, position, outcome) }
            })
    }
}

extension RPCReply {
    /// Responds for an event that was not added to the inbox.
    fileprivate func refuse(_ fate: InboxSubmission.Acceptance, _ id: String?) {
        switch fate {
        case .accepted: break
        case .duplicate: succeed { $0.duplicate(id) }
        case .failed(let error): fail(.notAccepted(error))
        }
    }
}
