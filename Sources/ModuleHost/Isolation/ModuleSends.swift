import AppService

/// The durable events that a module's process sends.
///
/// Each goes to the inbox as soon as it is read, and its answer to the process as soon as it is on the disk, or delivered where
/// the process waits for that: neither needs the lane, so no other module waits for the disk.
/// The events of one process get their positions in the order in which it has sent them.
final class ModuleSends: Sendable {
    struct Limits: Hashable, Sendable {
        /// The number of events of a process that are not on the disk yet, and of those whose delivery it waits for.
        var events = 1024
        /// The bytes of their requests.
        var bytes = 8 << 20
    }

    private let module: ModuleID
    private let traces: DeliveredTraces
    private let services: HostServices
    private let limits: Limits
    /// Those of all processes of the module: one that has ended leaves some behind.
    private let waiting = Guarded((events: 0, bytes: 0, deliveries: 0))

    init(
        of module: ModuleID, _ traces: DeliveredTraces, _ services: HostServices,
        _ limits: Limits = Limits()
    ) {
        (self.module, self.traces) = (module, traces)
        self.services = services
        self.limits = limits
    }

    private struct Parameters: Decodable {
        let event: String
        let payload: JSONValue?
        let id: String?
        let source: String?
        let traceparent: TraceContext?
        /// Whether to answer only after the delivery.
        let wait: Bool?
    }

    /// Submits the event of a request `send`.
    ///
    /// On the thread that reads the process; it does not wait.
    ///
    /// - Parameters:
    ///   - id: The id of the request; nil where it wants no response.
    ///   - bytes: The bytes of the request.
    /// - Returns: False where the event is not durable: the request waits for its turn in the module.
    func take(
        _ request: RPCRequest, _ id: RPCID?, bytes: Int, of process: ModuleProcess
    ) -> Bool {
        do throws(RPCError) {
            let asked = try request.parameters(as: Parameters.self)
            let sent = try Self.event(in: asked, from: module, traces)
            guard let record = sent.record else { return false }
            // One that wants no response waits for nothing.
            let waits = asked.wait == true && id != nil
            try enter(bytes, waits)
            let place = Guarded<EventPosition?>(nil)
            let name = record.id
            let onDelivery = { @Sendable [self] (outcome: InboxSubmission.DeliveryResult) in
                guard let position = place.withLock({ $0 }) else { return }
                waiting.withLock { $0.deliveries -= 1 }
                process.succeed(id) { $0.acceptance(name, position, outcome) }
            }
            services.submit(
                record, of: module,
                onAcceptance: { [self] acceptance in
                    let isWaitedFor = if case .accepted = acceptance { waits } else { false }
                    leave(bytes, endsWait: waits && !isWaitedFor)
                    switch acceptance {
                    case .accepted(let position) where isWaitedFor:
                        place.withLock { $0 = position }
                    case .accepted(let position):
                        process.succeed(id) { $0.acceptance(name, position, nil) }
                    case .duplicate: process.succeed(id) { $0.duplicate(name) }
                    case .failed(let error): refuse(request, id, .notAccepted(error), of: process)
                    }
                }, onDelivery: waits ? onDelivery : nil)
        } catch {
            refuse(request, id, error, of: process)
        }
        return true
    }

    /// Reads the event of a request `send`.
    static func event(
        in request: RPCRequest, from module: ModuleID
    ) throws(RPCError) -> SendRequest {
        try event(in: request.parameters(as: Parameters.self), from: module, nil)
    }

    private static func event(
        in asked: Parameters, from module: ModuleID, _ traces: DeliveredTraces?
    ) throws(RPCError) -> SendRequest {
        try SendRequest(
            asked.event, payload: asked.payload, id: asked.id, source: asked.source,
            trace: asked.traceparent.map { traces?.known($0) ?? $0 }, from: .local(module))
    }

    private func enter(_ bytes: Int, _ waits: Bool) throws(RPCError) {
        let (isFull, hasManyWaits) = waiting.withLock { waiting in
            guard waiting.events < limits.events,
                waiting.bytes + bytes <= limits.bytes || waiting.bytes == 0
            else { return (true, false) }
            guard !waits || waiting.deliveries < limits.events else { return (false, true) }
            waiting = (
                waiting.events + 1, waiting.bytes + bytes, waiting.deliveries + (waits ? 1 : 0)
            )
            return (false, false)
        }
        if hasManyWaits {
            throw RPCError(
                .tooMany,
                "\(limits.events) events of this module wait for their delivery; send more when these are answered"
            )
        }
        guard isFull else { return }
        throw RPCError(
            .tooMany,
            "\(limits.events) events of this module, or \(limits.bytes >> 20) MiB of them, wait for the disk; "
                + "send more when these are answered")
    }

    private func leave(_ bytes: Int, endsWait: Bool) {
        waiting.withLock {
            $0 = ($0.events - 1, $0.bytes - bytes, $0.deliveries - (endsWait ? 1 : 0))
        }
    }

    private func refuse(
        _ request: RPCRequest, _ id: RPCID?, _ error: RPCError, of process: ModuleProcess
    ) {
        if id == nil { process.warn(request, error, at: services.time.now()) }
        process.fail(id, error)
    }
}
