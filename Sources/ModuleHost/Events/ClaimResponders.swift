/// A module that opens URLs itself, before the router does.
///
/// - Order: Slatefile order, until one claims the URL.
/// - Thread: The lane.
/// - Reply: The first `true` ends the search. A module that is overdue ends it too, without a claim:
///   continuing could act twice.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and counts as no claim.
public protocol URLResponder: Module {
    /// Opens a URL, or returns that it does not belong to this module.
    ///
    /// - Parameters:
    ///   - url: The URL as it was written, except its token, which is removed.
    ///   - options: The circumstances of the request.
    /// - Returns: Whether the module claims it.
    /// - Throws: Any error; it is reported under the module's name.
    func open(_ url: String, options: OpenURLOptions) throws -> Bool
}

/// A module that continues activities begun elsewhere.
///
/// - Order: Slatefile order, until one claims the activity.
/// - Thread: The lane.
/// - Reply: The first `true` ends the search; so does an overdue module, without a claim.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and counts as no claim.
public protocol UserActivityResponder: Module {
    /// Continues an activity, or returns that it does not belong to this module.
    ///
    /// - Parameter activity: The activity.
    /// - Returns: Whether the module claims it.
    /// - Throws: Any error; it is reported under the module's name.
    func continueActivity(_ activity: UserActivity) throws -> Bool
}

/// A module that performs shortcuts.
///
/// - Order: Slatefile order, until one claims the shortcut.
/// - Thread: The lane.
/// - Reply: The first `true` ends the search; so does an overdue module, without a claim.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and counts as no claim.
public protocol ShortcutResponder: Module {
    /// Performs a shortcut, or returns that it does not belong to this module.
    ///
    /// - Parameter shortcut: The shortcut.
    /// - Returns: Whether the module claims it.
    /// - Throws: Any error; it is reported under the module's name.
    func performShortcut(_ shortcut: Shortcut) throws -> Bool
}

enum OpenURLEvent: EventDefinition {
    static let facts = EventFacts(
        payload: OpenURLRequest.self, reply: .claim, code: 22,
        handler: "open(_ url: String, options: OpenURLOptions)",
        example: #"{"url": "slate://tea"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any URLResponder.Type
    }

    static func content(of event: LifecycleEvent) -> (url: String, options: OpenURLOptions)? {
        guard case .url(let url, _) = event.content else { return nil }
        return (url.text, OpenURLOptions(origin: event.origin))
    }

    static func notify(
        _ module: any URLResponder, _ request: (url: String, options: OpenURLOptions), as _: Member
    ) throws -> EventReply {
        .claim(try module.open(request.url, options: request.options))
    }
}

enum UserActivityEvent: EventDefinition {
    static let facts = EventFacts(
        payload: UserActivity.self, reply: .claim, code: 23,
        handler: "continueActivity(_ activity: UserActivity)",
        example: #"{"type": "reading"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any UserActivityResponder.Type
    }

    static func content(of event: LifecycleEvent) -> UserActivity? {
        if case .activity(let activity) = event.content { activity } else { nil }
    }

    static func notify(
        _ module: any UserActivityResponder, _ activity: UserActivity, as _: Member
    ) throws -> EventReply {
        .claim(try module.continueActivity(activity))
    }
}

enum ShortcutEvent: EventDefinition {
    static let facts = EventFacts(
        payload: Shortcut.self, reply: .claim, code: 24,
        handler: "performShortcut(_ shortcut: Shortcut)",
        example: #"{"type": "new"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any ShortcutResponder.Type
    }

    static func content(of event: LifecycleEvent) -> Shortcut? {
        if case .shortcut(let shortcut) = event.content { shortcut } else { nil }
    }

    static func notify(
        _ module: any ShortcutResponder, _ shortcut: Shortcut, as _: Member
    ) throws -> EventReply {
        .claim(try module.performShortcut(shortcut))
    }
}
