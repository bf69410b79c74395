/// A module that is notified of changes to the settings for notifications.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol NotificationSettingsResponder: Module {
    /// Notifies the module that the user changed the settings for notifications.
    ///
    /// - Parameter settings: The current settings.
    /// - Throws: Any error; it is reported under the module's name.
    func didChangeNotificationSettings(_ settings: NotificationSettings) throws
}

/// A module that handles local notifications.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol LocalNotificationResponder: Module {
    /// Notifies the module that a local notification fired.
    ///
    /// - Parameter notification: The notification.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveLocalNotification(_ notification: LocalNotification) throws
}

/// A module that handles local notifications, and takes its time for each.
///
/// - Order: Slatefile order. The module receives the next event when it has returned from this one; other modules, and calls
///   to this one, do not wait for it. A durable notification is done when the last module has returned.
/// - Thread: That of the module: one slice from one suspension to the next, never beside other code of the module.
/// - Deadline: `deadlines.call`, 30 s unless the slatefile says otherwise: then its task is cancelled and it has failed, and a
///   durable notification becomes a dead letter of this module. Each slice has `deadlines.event`.
/// - Failure: Throwing is reported, and the other modules still receive the event.
public protocol AsyncLocalNotificationResponder: Module {
    /// Notifies the module that a local notification fired.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - isolation: The isolation of the module's asynchronous code; see ``RunningModule/run(isolation:)``.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveLocalNotification(
        _ notification: LocalNotification, isolation: isolated any Actor
    ) async throws
}

enum NotificationSettingsEvent: EventDefinition {
    static let facts = EventFacts(
        payload: NotificationSettings.self, code: 20,
        handler: "didChangeNotificationSettings(_ settings: NotificationSettings)",
        example: #"{"alert": true}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any NotificationSettingsResponder.Type
    }

    static func content(of event: LifecycleEvent) -> NotificationSettings? {
        if case .notificationSettings(let settings) = event.content { settings } else { nil }
    }

    static func notify(
        _ module: any NotificationSettingsResponder, _ settings: NotificationSettings, as _: Member
    ) throws -> EventReply {
        try module.didChangeNotificationSettings(settings)
        return .received
    }
}

enum LocalNotificationEvent: EventDefinition {
    static let facts = EventFacts(
        payload: LocalNotification.self, code: 21,
        handler: "didReceiveLocalNotification(_ notification: LocalNotification)",
        example: #"{"title": "tea"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        type is any LocalNotificationResponder.Type
            || type is any AsyncLocalNotificationResponder.Type
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncLocalNotificationResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { event, isolation in
                guard case .localNotification(let notification) = event.content else {
                    return .notConcerned
                }
                try await module.openInModule().didReceiveLocalNotification(
                    notification, isolation: isolation)
                return .received
            }
        }
    }

    static func content(of event: LifecycleEvent) -> LocalNotification? {
        if case .localNotification(let notification) = event.content { notification } else { nil }
    }

    static func notify(
        _ module: any LocalNotificationResponder, _ notification: LocalNotification, as _: Member
    ) throws -> EventReply {
        try module.didReceiveLocalNotification(notification)
        return .received
    }
}
