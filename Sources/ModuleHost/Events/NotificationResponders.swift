/// A module that cares what notifications may do.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and does not keep the event from the other modules.
public protocol NotificationSettingsResponder: Module {
    /// Tells the module that the user changed what notifications may do.
    ///
    /// - Parameter settings: What is allowed now.
    /// - Throws: Any error; it is reported under the module's name.
    func didChangeNotificationSettings(_ settings: NotificationSettings) throws
}

/// A module that deals with local notifications.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported and does not keep the event from the other modules.
public protocol LocalNotificationResponder: Module {
    /// Tells the module that a local notification fired.
    ///
    /// - Parameter notification: What fired.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveLocalNotification(_ notification: LocalNotification) throws
}

enum NotificationSettingsEvent: EventDefinition {
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
