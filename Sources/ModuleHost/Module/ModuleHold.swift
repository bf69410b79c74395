/// A background assertion: it keeps a step of the app's life open while a module's work continues off the
/// lane.
///
/// A module takes one while it receives `background` or `terminate`, with ``ModuleContext/hold(_:expiry:)``,
/// and ends it when the work is done. A stop continues with its next step, `terminate` after `background` and
/// unloading the modules after `terminate`, once no hold is open. Nothing else waits: events, calls and
/// timers go on meanwhile.
///
/// - Thread: Any. It may be captured by the work.
/// - Time: `deadlines.stop`, 10 s unless the slatefile says otherwise, from the moment it was taken; during a
///   stop never past `deadlines.stopAll`. See ``remaining``.
/// - End: By ``end()``, by its time, with its module, or when the last reference to it is released.
public final class ModuleHold: Sendable {
    /// The reason for the hold, in the module's words.
    public let reason: String

    private let id: HoldList.ID
    private let holds: HoldList

    init(_ id: HoldList.ID, _ reason: String, in holds: HoldList) {
        self.id = id
        self.reason = reason
        self.holds = holds
    }

    deinit { holds.end(id, how: .release) }

    /// Ends the hold: the app may continue.
    ///
    /// Has no effect where the hold has ended already, for any reason.
    public func end() { holds.end(id, how: .ended) }

    /// The remaining time; zero once the hold has ended or run out, nil if it does not run out: the app has
    /// returned to the foreground, and no stop has begun.
    ///
    /// When the app goes to the background once more, the time begins again.
    public var remaining: Duration? { holds.remaining(id) }
}

extension ModuleContext {
    /// Keeps the step that the module is receiving open, until the hold is ended or its time runs out.
    ///
    /// Works while `background` or `terminate` is delivered. Take it in `didEnterBackground()` or
    /// `willTerminate()`, capture it in the work, and end it when the work is done:
    ///
    /// ```swift
    /// let hold = try context.hold("saving \(count) drafts") { self.saving?.cancel() }
    /// ```
    ///
    /// - Parameters:
    ///   - reason: The reason why the module needs the time, for the log and `hostd modules`: it must not
    ///     contain secrets.
    ///   - expiry: Runs when the time has run out, as code of the module: on the lane, or where the module is
    ///     overdue, on its own thread when it returns. The hold ends when it returns. It has the module's
    ///     deadline for an event; it is not run where the hold ends in another way.
    /// - Returns: The hold. Releasing it ends it.
    /// - Throws: ``HoldError`` where there is no step to hold.
    public func hold(
        _ reason: String, expiry: (() -> Void)? = nil
    ) throws(HoldError) -> ModuleHold {
        let event = event?.kind
        guard let event, event == .background || event == .terminate else {
            throw .nothingToHold(in: event)
        }
        return try hold(event, reason, expiry: expiry)
    }

    /// Keeps a step open, which need not be the current one.
    func hold(
        _ step: EventKind, _ reason: String, expiry: (() -> Void)?
    ) throws(HoldError) -> ModuleHold {
        guard !host.services.isChildProcess else { throw .otherProcess }
        let holds = host.services.holds
        let id = try holds.add(
            HoldList.Request(module: id, slot: slot, step: step, reason: reason, expiry: expiry))
        return ModuleHold(id, reason, in: holds)
    }
}

/// The reason why there is no step to hold.
@nonexhaustive public enum HoldError: Error, Hashable, Sendable {
    /// Neither `background` nor `terminate` is being delivered, but this event, or none.
    case nothingToHold(in: EventKind?)
    /// The host has ended.
    case stopped
    /// The module runs in a process of its own: the step belongs to the host's process.
    case otherProcess
}

extension HoldError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .nothingToHold(let event):
            "there is nothing to hold "
                + (event.map { "in '\($0.rawValue)'" } ?? "outside of an event")
                + ": take a hold in didEnterBackground() or willTerminate()"
        case .otherProcess:
            "a module in a process of its own cannot hold a step: do the work before you return, "
                + "or leave \"isolation\" out"
        case .stopped: "there is nothing to hold: the host has ended"
        }
    }
}
