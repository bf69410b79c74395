/// A module that deals with remote notifications.
///
/// - Order: Slatefile order. Every responder hears each of them.
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
