/// A module's handler for the expiry of its hold: run or released, once, in the module.
///
/// Belongs to the module.
final class HoldHandler {
    private var body: (() -> Void)?

    init(_ body: @escaping () -> Void) { self.body = body }

    func run() {
        let body = body
        self.body = nil
        body?()
    }

    func drop() { body = nil }
}

/// A job that notifies a module that the time of its hold is over.
///
/// The hold ends when the handler has returned. The stop does not wait for a module that is overdue, and so
/// not for its handler either, which runs when the module returns; nor for a handler that is stuck. A module
/// that a reload releases is notified as well: it is unloaded when its holds are over.
final class HoldExpiry: LaneJob {
    private let gate: Gate
    private let slot: ModuleSlot
    private let errand: ModuleJob
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - gate: The way into the module.
    ///   - slot: The module's slot.
    ///   - handler: The handler to run.
    ///   - onEnd: Called at the end of the hold, once or more, on any thread.
    init(
        gate: Gate, slot: ModuleSlot, _ handler: LaneConfined<HoldHandler>,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.gate = gate
        self.slot = slot
        self.onEnd = onEnd
        errand = ModuleJob(gate: gate, slot: slot, reachesLeaving: true) {
            handler.openInModule().run()
        } completion: { _ in
            onEnd()
        }
    }

    func run(on thread: LaneThread, after stuck: UInt16) {
        if stuck != 0 || gate.lane.overdueSlots.contains(where: { $0 === slot }) { onEnd() }
        errand.run(on: thread, after: stuck)
    }

    func abandon() { errand.abandon() }
}

/// A description of an open hold.
package struct OpenHold: Hashable, Sendable {
    /// The module that has it.
    package var module: ModuleID
    /// The step that it keeps open: `background` or `terminate`.
    package var step: EventKind
    /// The reason for it.
    package var reason: String
    /// The remaining time; nil if it does not run out.
    package var remaining: Duration?

    package init(module: ModuleID, step: EventKind, reason: String, remaining: Duration?) {
        self.module = module
        self.step = step
        self.reason = reason
        self.remaining = remaining
    }

    /// Writes the hold as members of an object.
    func write(to json: inout JSONWriter) {
        json.member("event", step.rawValue)
        json.member("reason", reason)
        if let remaining { json.member("remainingMs", millisecondsOf: remaining.wholeNanoseconds) }
    }
}
