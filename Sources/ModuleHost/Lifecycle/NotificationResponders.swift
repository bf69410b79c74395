/// What the user allows notifications to do.
public struct NotificationSettings: Decodable, Hashable, Sendable {
    /// Whether notifications may show text; nil where the event does not say.
    public var alert: Bool?
    /// Whether notifications may put a number on the icon; nil where the event does not say.
    public var badge: Bool?
    /// Whether notifications may make a sound; nil where the event does not say.
    public var sound: Bool?
}

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

/// A notification that this app itself had scheduled.
public struct LocalNotification: Decodable, Sendable {
    /// The name it was scheduled under.
    public var id: String?
    /// Its title.
    public var title: String?
    /// Its text.
    public var body: String?
    /// What was put along with it: an object.
    public var userInfo: JSONValue?
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
