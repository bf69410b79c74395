/// An assertion of a module: it keeps a step of the app's life open while the module's work continues off the lane.
///
/// A module takes one while it receives `background` or `terminate`, with ``ModuleContext/hold(_:expiry:)``,
/// and ends it when the work is done. A stop continues with its next step, `terminate` after `background` and
/// unloading the modules after `terminate`, once no hold is open. Nothing else waits: events, calls and
/// timers go on meanwhile. ``ModuleContext/holdLaunch(_:)`` holds READY.
///
/// - Thread: Any. It may be captured by the work.
/// - Time: `deadlines.stop`, 10 s unless the slatefile says otherwise, from the moment it was taken; during a
///   stop never past `deadlines.stopAll`. See ``remaining``.
/// - End: By ``end()``, by its time, with its module, or when the last reference to it is released.
public final class ModuleHold: Sendable {
    /// The reason for the hold, in the module's words.
    public let reason: String

    /// Nil for a hold that has ended before it began.
    private let id: HoldList.ID?
    private let holds: HoldList

    init(_ id: HoldList.ID?, _ reason: String, in holds: HoldList) {
        self.id = id
        self.reason = reason
        self.holds = holds
    }

    deinit { end(how: .release) }

    /// Ends the hold: the app may continue.
    ///
    /// Has no effect where the hold has ended already, for any reason.
    public func end() { end(how: .ended) }

    private func end(how ending: HoldList.Ending) {
        if let id { holds.end(id, how: ending) }
    }

    /// The remaining time; zero once the hold has ended or run out, nil if it does not run out: the app has
    /// returned to the foreground, and no stop has begun.
    ///
    /// When the app goes to the background once more, the time begins again.
    public var remaining: Duration? { id.map(holds.remaining) ?? .zero }
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
        guard let event, event.canBeHeld else {
            throw .nothingToHold(in: event)
        }
        return try hold(event, reason, expiry: expiry)
    }

    /// Delays READY until the hold is ended: until a server of the module listens, for example.
    ///
    /// Taken in `init` or at `launch`, and ended when others may rely on the module, also on another thread:
    ///
    /// ```swift
    /// listening = context.holdLaunch("listening on port 8080")
    /// ```
    ///
    /// It has no effect in an app that is ready, as for a module that a reload adds. A module in a process of its own
    /// has `deadlines.launch` for it, and receives `launch` when the hold is ended.
    ///
    /// - Time: `deadlines.launch`, 20 s unless the slatefile says otherwise: then the app is ready without it, with a warning.
    /// - Parameter reason: The reason, for the log and `hostd modules`: it must not contain secrets.
    /// - Returns: The hold. Releasing it ends it.
    public func holdLaunch(_ reason: String) -> ModuleHold {
        let holds = host.services.holds
        let request = HoldList.Request(
            module: id, slot: slot, step: .launch, reason: reason, expiry: nil)
        let isReady = host.services.metrics.readyAfter != nil
        return ModuleHold(isReady ? nil : try? holds.add(request), reason, in: holds)
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

extension EventKind {
    /// Whether a module may hold the step of the app's life that the event is.
    var canBeHeld: Bool { self == .background || self == .terminate }
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
