/// A module that handles remote notifications.
///
/// - Order: Slatefile order. Every responder receives each of them.
/// - Thread: The lane.
/// - Reply: One for all, joined by ``FetchResult/joined(with:)``.
/// - Deadline: `deadlines.event`, 5 s unless the slatefile says otherwise.
/// - Failure: Throwing is reported, counts as `failed`, and the other modules still receive the notification.
public protocol RemoteNotificationResponder: Module {
    /// Notifies the module that a remote notification arrived.
    ///
    /// - Parameter notification: The notification.
    /// - Returns: The result of handling it.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveRemoteNotification(_ notification: RemoteNotification) throws -> FetchResult

    /// Notifies the module that the push service accepted this device.
    ///
    /// - Parameter deviceToken: The token for the server that sends notifications.
    /// - Throws: Any error; it is reported under the module's name.
    func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws

    /// Notifies the module that the push service refused this device.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Any error; it is reported under the module's name.
    func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws
}

/// A module that handles remote notifications, and takes its time for each.
///
/// - Order: Slatefile order. The module receives the next event when it has returned from this one; other modules, and calls
///   to this one, do not wait for it. A durable notification is done when the last module has returned.
/// - Thread: That of the module: one slice from one suspension to the next, never beside other code of the module.
/// - Reply: One for all, joined by ``FetchResult/joined(with:)`` when the last module has returned.
/// - Deadline: `deadlines.call`, 30 s unless the slatefile says otherwise: then its task is cancelled and it has failed, and a
///   durable notification becomes a dead letter of this module. Each slice has `deadlines.event`.
/// - Failure: Throwing is reported, counts as `failed`, and the other modules still receive the notification.
public protocol AsyncRemoteNotificationResponder: Module {
    /// Notifies the module that a remote notification arrived.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - isolation: The isolation of the module's asynchronous code; see ``RunningModule/run(isolation:)``.
    /// - Returns: The result of handling it.
    /// - Throws: Any error; it is reported under the module's name.
    func didReceiveRemoteNotification(
        _ notification: RemoteNotification, isolation: isolated any Actor
    ) async throws -> FetchResult

    /// Notifies the module that the push service accepted this device.
    ///
    /// - Parameter deviceToken: The token for the server that sends notifications.
    /// - Throws: Any error; it is reported under the module's name.
    func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws

    /// Notifies the module that the push service refused this device.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Any error; it is reported under the module's name.
    func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws
}

extension AsyncRemoteNotificationResponder {
    /// Does nothing.
    ///
    /// - Parameter deviceToken: The token for the server that sends notifications.
    /// - Throws: Never.
    public func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws {}

    /// Does nothing.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Never.
    public func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws {}
}

extension RemoteNotificationResponder {
    /// Does nothing.
    ///
    /// - Parameter deviceToken: The token for the server that sends notifications.
    /// - Throws: Never.
    public func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws {}

    /// Does nothing.
    ///
    /// - Parameter error: The service's reason.
    /// - Throws: Never.
    public func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws {}
}

private func isPushResponder(_ type: any Module.Type) -> Bool {
    type is any RemoteNotificationResponder.Type
        || type is any AsyncRemoteNotificationResponder.Type
}

enum PushEvent: EventDefinition {
    static let facts = EventFacts(
        payload: RemoteNotification.self, reply: .fetchResult, code: 17,
        handler: "didReceiveRemoteNotification(_ notification: RemoteNotification)",
        example: #"{"aps": {"badge": 1}}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        isPushResponder(type)
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncRemoteNotificationResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { event, isolation in
                guard case .push(let notification) = event.content else { return .notConcerned }
                return .fetch(
                    try await module.openInModule().didReceiveRemoteNotification(
                        notification, isolation: isolation))
            }
        }
    }

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
    static let facts = EventFacts(
        payload: DeviceToken.self, code: 18,
        handler: "didRegisterForRemoteNotifications(deviceToken: DeviceToken)",
        example: #"{"deviceToken": "a1b2"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        isPushResponder(type)
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncRemoteNotificationResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { event, _ in
                guard case .deviceToken(let token) = event.content else { return .notConcerned }
                try module.openInModule().didRegisterForRemoteNotifications(deviceToken: token)
                return .received
            }
        }
    }

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
    static let facts = EventFacts(
        payload: RegistrationFailure.self, code: 19,
        handler: "didFailToRegisterForRemoteNotifications(error: RegistrationFailure)",
        example: #"{"error": "refused"}"#)

    static func isDeclared(by type: any Module.Type) -> Bool {
        isPushResponder(type)
    }

    static func asyncHandler(of object: AnyObject) -> AsyncHandler? {
        (object as? any AsyncRemoteNotificationResponder).map { module in
            let module = LaneConfined(module)
            return AsyncHandler { event, _ in
                guard case .registrationFailure(let failure) = event.content else {
                    return .notConcerned
                }
                try module.openInModule().didFailToRegisterForRemoteNotifications(error: failure)
                return .received
            }
        }
    }

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
