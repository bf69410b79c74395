import AppService
public import ModuleHostCore

extension TestHost {
    // MARK: Events

    /// Delivers an event, and waits until every module has received it.
    ///
    /// `background`, for example, is preceded by `resign-active`, as in any host.
    ///
    /// - Parameters:
    ///   - kind: The kind of event; not `launch` and `configuration-changed`, which are the host's own, nor
    ///     `terminate`: see ``stop()`` and ``requestStop()``.
    ///   - payload: The payload, as JSON; nil for an event that takes none.
    ///   - origin: The origin of the event. A durable event comes from the inbox.
    ///   - id: The id of a durable event: sent again, it is not delivered; with another payload, it is refused.
    /// - Returns: The delivery, or nil for a duplicate.
    /// - Throws: ``EventError`` or ``JSONError`` for a payload that the event does not take;
    ///   ``TestHostError`` if the event has no meaning in the state of the app; ``RouteError/stopped`` if the
    ///   app has ended.
    @discardableResult
    public func deliver(
        _ kind: EventKind, _ payload: String? = nil, from origin: Origin = .host,
        id: String? = nil
    ) async throws -> Delivery? {
        let payload = try payload.map { try JSONValue(parsing: $0) }
        let event = try LifecycleEvent(kind, payload: payload, origin: origin)
        if id != nil, !host.hasInbox { throw TestHostError.notDurable }
        let start = recorder.all.count
        if kind.isDurable, host.hasInbox {
            guard try await deliverDurably(kind, payload, origin, id) else { return nil }
        } else {
            let ignored = try await wait(for: "the delivery of '\(kind.rawValue)'") {
                host.deliver(event, completion: $0)
            }
            if let ignored { throw TestHostError.ignored(kind, ignored) }
            // The modules that answer later.
            if recorder.all.dropFirst(start).allSatisfy({ $0.event != kind }) { try await settle() }
        }
        return recorder.all.dropFirst(start).last { $0.event == kind }
    }

    /// - Returns: False for a duplicate.
    private func deliverDurably(
        _ kind: EventKind, _ payload: JSONValue?, _ origin: Origin, _ id: String?
    ) async throws -> Bool {
        let (_, result) = try await wait(for: "the delivery of '\(kind.rawValue)'") { done in
            do {
                try host.deliverDurably(
                    kind, payload: payload, id: id, origin: origin, completion: done)
            } catch {
                done(.failure(error))
            }
        }
        switch result {
        case .done: return true
        case .duplicate, .pending: return false
        case .rejected(let reason): throw TestHostError.deadLetter(reason)
        case .left: throw RouteError.stopped
        }
    }

    /// Posts a message on a topic, and waits until every module that listens to it has received it.
    ///
    /// - Parameters:
    ///   - topic: The topic, such as `user.signed-in`.
    ///   - payload: The payload.
    ///   - origin: The origin of the message.
    /// - Returns: The delivery.
    /// - Throws: ``EventError`` for an empty topic, any error of encoding the payload, and the errors of
    ///   ``deliver(_:_:from:id:)``.
    @discardableResult
    public func post(
        _ topic: String, _ payload: some Encodable & Sendable, from origin: Origin = .host
    ) async throws -> Delivery? {
        let json = String(decoding: try JSONEncoding.bytes(payload), as: UTF8.self)
        return try await deliver(
            .message, #"{"topic": \#(quotedJSON(topic)), "payload": \#(json)}"#, from: origin)
    }

    /// Posts a message that consists of its topic alone.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - origin: The origin of the message.
    /// - Returns: The delivery.
    /// - Throws: As the form with a payload.
    @discardableResult
    public func post(_ topic: String, from origin: Origin = .host) async throws -> Delivery? {
        try await deliver(.message, #"{"topic": \#(quotedJSON(topic))}"#, from: origin)
    }

    /// Calls every module that conforms to a protocol, in order, as ``CommunicationCenter`` does.
    ///
    /// - Parameters:
    ///   - responder: The protocol, as `(any SignInResponder).self`.
    ///   - body: Calls one module, on the lane.
    /// - Returns: The numbers of modules that received it, that failed, and that were unresponsive.
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    @discardableResult
    public func send<Responder>(
        to responder: Responder.Type, _ body: @escaping @Sendable (Responder) throws -> Void
    ) async throws -> DeliveryReport {
        try await wait(for: "the delivery of a message to \(responder)") { done in
            host.use { center, _ in
                center.send(to: responder, body)
            } completion: {
                done($0)
            }
        }
    }

    /// The deliveries of events so far, `launch` and `activate` included, in order.
    public var deliveries: [Delivery] { recorder.all }

    /// The kinds of the events that were delivered so far, in order.
    public var events: [EventKind] { recorder.all.map(\.event) }

    // MARK: Time

    /// Moves the clock on, and waits until everything that fell due has been done on the lane.
    ///
    /// Timers of modules, deadlines of modules and holds, and delays of restarts go by this clock. Each alarm
    /// on the way runs at its own instant.
    ///
    /// - Parameter duration: The duration.
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    public func advance(by duration: Duration) async throws {
        time.advance(by: duration)
        try await settle()
    }

    /// Waits until everything that the host has accepted so far has been done on the lane.
    ///
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    public func settle() async throws {
        try await wait(for: "the lane to be idle") { host.settle($0) }
    }
}

/// The deliveries of a host, in order, before another observer.
final class DeliveryRecorder: DeliveryObserver {
    private let deliveries = Guarded<[Delivery]>([])
    private let next: (any DeliveryObserver)?

    /// - Parameter next: The observer of the test; nil for none.
    init(before next: (any DeliveryObserver)?) { self.next = next }

    var all: [Delivery] { deliveries.withLock { $0 } }

    func willDeliver(_ event: LifecycleEvent) -> String? { next?.willDeliver(event) }

    func didDeliver(_ delivery: Delivery) {
        deliveries.withLock { $0.append(delivery) }
        next?.didDeliver(delivery)
    }

    func willCall(_ target: String, from origin: Origin, traceparent: String?) -> String? {
        next?.willCall(target, from: origin, traceparent: traceparent)
    }

    func didCall(
        _ target: String, traceparent: String?, in duration: Duration, failure: String?
    ) {
        next?.didCall(target, traceparent: traceparent, in: duration, failure: failure)
    }
}

/// Returns a text as a JSON string.
func quotedJSON(_ text: String) -> String {
    String(decoding: (try? JSONEncoding.bytes(text)) ?? [], as: UTF8.self)
}
