/// A module that deals with remote notifications.
///
/// - Order: Slatefile order. Every responder receives each of them.
/// - Thread: The lane.
/// - Reply: One for all, put together by ``FetchResult/joined(with:)``.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, counts as `failed`, and does not keep the notification from the
///   other modules.
public protocol RemoteNotificationResponder: Module {
    /// Tells the module that a remote notification arrived.
    ///
    /// - Parameter notification: What arrived.
    /// - Returns: What came of it.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveRemoteNotification(_ notification: RemoteNotification) throws -> FetchResult

    /// Tells the module that the push service accepted this device.
    ///
    /// - Parameter deviceToken: The token to give to the server that sends.
    /// - Throws: Any error; it is reported under the module's name.
    func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws

    /// Tells the module that the push service refused this device.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Any error; it is reported under the module's name.
    func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws
}

extension RemoteNotificationResponder {
    /// Does nothing.
    ///
    /// - Parameter deviceToken: The token to give to the server that sends.
    /// - Throws: Never.
    public func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws {}

    /// Does nothing.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Never.
    public func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws {}
}

enum PushEvent: EventDefinition {
    static func content(of event: LifecycleEvent) -> RemoteNotification? {
        if case .push(let notification) = event.content { notification } else { nil }
    }

    static func notify(
        _ module: any RemoteNotificationResponder, _ notification: RemoteNotification, as _: Member
    ) throws -> EventReply {
        .fetch(try module.didReceiveRemoteNotification(notification))
    }
}

enum PushRegisteredEvent: EventDefinition {
    static func content(of event: LifecycleEvent) -> DeviceToken? {
        if case .deviceToken(let token) = event.content { token } else { nil }
    }

    static func notify(
        _ module: any RemoteNotificationResponder, _ token: DeviceToken, as _: Member
    ) throws -> EventReply {
        try module.didRegisterForRemoteNotifications(deviceToken: token)
        return .received
    }
}

enum PushRegistrationFailedEvent: EventDefinition {
    static func content(of event: LifecycleEvent) -> RegistrationFailure? {
        if case .registrationFailure(let failure) = event.content { failure } else { nil }
    }

    static func notify(
        _ module: any RemoteNotificationResponder, _ failure: RegistrationFailure, as _: Member
    ) throws -> EventReply {
        try module.didFailToRegisterForRemoteNotifications(error: failure)
        return .received
    }
}
