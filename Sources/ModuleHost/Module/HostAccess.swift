/// The functions of the host that a module may call.
///
/// Belongs to the module's context, and is used as that is.
public struct HostAccess {
    let services: any ModuleServices
    let module: ModuleID
    let slot: ModuleSlot

    /// Puts another slatefile in the place of the one that the host runs of, as a table that comes from
    /// elsewhere: the app's modules, order, routes and settings as data.
    ///
    /// The text is checked whole. Then the file is exchanged, at one instant, and the one before kept as
    /// `<slatefile>.previous`; then the app is reloaded, as by `hostd reload`. Where a module cannot be made
    /// or launched, both the app and the file are as before.
    ///
    /// - Order: After reloads that are on their way.
    /// - Thread: At once done; the result comes on the lane.
    /// - Parameters:
    ///   - text: The slatefile. Paths in it are beside the file that it replaces.
    ///   - completion: Code of this module, on the lane; called once, unless that is gone: also by this very
    ///     slatefile.
    public func apply(
        slatefile text: String,
        completion: @escaping (Result<SlatefileChange, SlatefileRefusal>) -> Void
    ) {
        let confined = LaneConfined(completion)
        services.apply(slatefile: text, from: module) { [services, slot] result in
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

/// The reason why another slatefile did not take effect; everything is as before.
@nonexhaustive public enum SlatefileRefusal: Error, Hashable, Sendable {
    /// It is invalid: every fault.
    case invalid(SlatefileError)
    /// A file that it names cannot be read; why, in words.
    case unreadable(String)
    /// A module could not be made or launched, or the file not be written; why, in words.
    case undone(String)
    /// The host runs of no file that could be exchanged.
    case noFile
    /// The host has stopped, or is about to.
    case stopped
}

extension SlatefileRefusal: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .invalid(let error): error.description
        case .unreadable(let reason): reason
        case .undone(let reason): "undone, the running slatefile stays: \(reason)"
        case .noFile:
            "this host runs of no slatefile that could be exchanged; run it by 'hostd run'"
        case .stopped: "the host has stopped"
        }
    }
}
