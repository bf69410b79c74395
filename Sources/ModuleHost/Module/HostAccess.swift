/// The functions of the host that a module may call.
///
/// Belongs to the module's context, and is used under the same rules.
public struct HostAccess {
    let services: HostServices
    let module: ModuleID
    let slot: ModuleSlot

    /// Replaces the slatefile of the running host by another one, such as a table received from elsewhere:
    /// the app's modules, order, routes and settings as data.
    ///
    /// The text is checked completely. Then the file is exchanged atomically, and the former one kept as
    /// `<slatefile>.previous`; then the app is reloaded, as by `hostd reload`. Where a module cannot be
    /// created or launched, both the app and the file are as before.
    ///
    /// With a probation, the file is exchanged only when no module has failed, or become unresponsive or restarted more
    /// often than before, for that time: otherwise the app is reloaded to the former slatefile, as by `hostd apply`.
    ///
    /// A module in a process of its own may do this only if its entry has `"may": ["apply"]`.
    ///
    /// - Order: After reloads in progress.
    /// - Thread: Starts at once; the result is delivered on the lane.
    /// - Parameters:
    ///   - text: The slatefile. Paths in it are relative to the file that it replaces.
    ///   - probation: The length of the probation, at most an hour; nil for none.
    ///   - completion: Code of this module, on the lane; called once, unless the module is unloaded, which
    ///     this slatefile may cause.
    public func apply(
        slatefile text: String, probation: Duration? = nil,
        completion: @escaping (Result<SlatefileChange, SlatefileRefusal>) -> Void
    ) {
        let confined = LaneConfined(completion)
        services.apply(slatefile: text, probation: probation, from: module) {
            [services, slot] result in
            services.enter(slot) {
                confined.openInModule()(result)
            } completion: { _ in
            }
        }
    }
}

/// The changes by another slatefile.
public struct SlatefileChange: Hashable, Sendable {
    /// Whether anything has changed.
    public let isChange: Bool
    /// The changes in one line.
    public let summary: String
}

/// The reason why another slatefile did not take effect; everything is unchanged.
@nonexhaustive public enum SlatefileRefusal: Error, Hashable, Sendable {
    /// The slatefile is invalid: every diagnostic.
    case invalid(SlatefileError)
    /// A file that it names cannot be read; the reason in words.
    case unreadable(String)
    /// A module could not be created or launched, or the file not be written; the reason in words.
    case undone(String)
    /// The host did not try it: another slatefile is on probation, or took effect meanwhile, or the module may not; for
    /// a module in a process of its own, the slatefile may be invalid. The reason in words.
    case refused(String)
    /// The host runs without a file that could be exchanged.
    case noFile
    /// The host has stopped, or is about to.
    case stopped
}

extension SlatefileRefusal: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .invalid(let error): error.description
        case .unreadable(let reason), .refused(let reason): reason
        case .undone(let reason): "rolled back, the current slatefile stays in effect: \(reason)"
        case .noFile:
            "this host has no slatefile that could be reloaded; start it with the command 'run'"
        case .stopped: "the host has stopped"
        }
    }
}
