/// Sending from a thread other than the lane's: an overdue module's own.
extension CommunicationCenter {
    /// Makes the lane send, and waits for it.
    @usableFromInline
    func sendFromElsewhere<Responder>(
        _ gate: Gate, _ body: @Sendable (Responder) throws -> Void
    ) -> DeliveryReport {
        serve(gate) { thread in send(through: gate, on: thread, body) }
    }

    /// Makes the lane call the remaining responders of a sender that lost the lane in between.
    @usableFromInline
    func sendRest<Responder>(
        _ modules: Set<ModuleID>?, through gate: Gate,
        _ body: @Sendable (Responder) throws -> Void,
        _ report: inout DeliveryReport
    ) {
        if modules?.isEmpty == true { return }
        let rest = serve(gate) { thread in
            guard let modules else { return send(through: gate, on: thread, body) }
            let list = fill(ResponderList<Responder>()) { id in
                id.map(modules.contains) ?? false
            }
            return send(through: gate, on: thread, to: list, body)
        }
        report.delivered += rest.delivered
        report.failed += rest.failed
        report.overdue += rest.overdue
        report.refusal = rest.refusal
    }

    private func serve(_ gate: Gate, _ send: (LaneThread) -> DeliveryReport) -> DeliveryReport {
        if let report = gate.lane.serve(send) { return report }
        var refused = DeliveryReport()
        refused.refusal = .stopped
        return refused
    }
}
