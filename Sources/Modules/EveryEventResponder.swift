public import ModuleHost

/// A module that hears every event, whatever it is, and claims none.
///
/// It says in one place what to do at any event; where one of them asks for more, it has that
/// event's own method as well:
///
/// ```swift
/// public final class EventCounter: EveryEventResponder {
///     private let log: Log
///     private var count = 0
///
///     public init(context: ModuleContext) { log = context.log }
///
///     public func didHear(_ kind: EventKind) { count += 1 }
///
///     public func willTerminate() { log.info("\(count) events") }
/// }
/// ```
///
/// - Order: Slatefile order. An event that is claimed ends with the module that claims it, so this
///   one hears it only if it stands before that.
/// - Thread: The lane.
/// - Failure: As for each event; a throw in `launch` marks the module failed.
public protocol EveryEventResponder: LaunchResponder, ActivationResponder, BackgroundResponder,
    TerminationResponder, MemoryWarningResponder, RemoteNotificationResponder,
    NotificationSettingsResponder, LocalNotificationResponder, URLResponder, UserActivityResponder,
    ShortcutResponder, ConfigurationResponder, MessageResponder
{
    /// Tells the module that something happened; ``ModuleContext/event`` is what.
    ///
    /// - Parameter kind: The kind of event.
    /// - Throws: Any error; it is reported under the module's name.
    func didHear(_ kind: EventKind) throws
}

// What each method's parameters mean, its responder protocol says.
extension EveryEventResponder {
    /// Calls ``didHear(_:)``.
    public func didFinishLaunching(_: Launch) throws { try didHear(.launch) }

    /// Calls ``didHear(_:)``.
    public func didBecomeActive() throws { try didHear(.activate) }

    /// Calls ``didHear(_:)``.
    public func willResignActive() throws { try didHear(.resignActive) }

    /// Calls ``didHear(_:)``.
    public func didEnterBackground() throws { try didHear(.background) }

    /// Calls ``didHear(_:)``.
    public func willEnterForeground() throws { try didHear(.foreground) }

    /// Calls ``didHear(_:)``.
    public func willTerminate() throws { try didHear(.terminate) }

    /// Calls ``didHear(_:)``.
    public func didReceiveMemoryWarning() throws { try didHear(.memoryWarning) }

    /// Calls ``didHear(_:)``; there is nothing new in the notification for this module.
    public func didReceiveRemoteNotification(_: RemoteNotification) throws -> FetchResult {
        try didHear(.push)
        return .noData
    }

    /// Calls ``didHear(_:)``.
    public func didRegisterForRemoteNotifications(deviceToken _: DeviceToken) throws {
        try didHear(.pushRegistered)
    }

    /// Calls ``didHear(_:)``.
    public func didFailToRegisterForRemoteNotifications(error _: RegistrationFailure) throws {
        try didHear(.pushRegistrationFailed)
    }

    /// Calls ``didHear(_:)``.
    public func didChangeNotificationSettings(_: NotificationSettings) throws {
        try didHear(.notificationSettings)
    }

    /// Calls ``didHear(_:)``.
    public func didReceiveLocalNotification(_: LocalNotification) throws {
        try didHear(.localNotification)
    }

    /// Calls ``didHear(_:)`` and claims nothing.
    public func open(_: String, options _: OpenURLOptions) throws -> Bool {
        try didHear(.openURL)
        return false
    }

    /// Calls ``didHear(_:)`` and claims nothing.
    public func continueActivity(_: UserActivity) throws -> Bool {
        try didHear(.userActivity)
        return false
    }

    /// Calls ``didHear(_:)`` and claims nothing.
    public func performShortcut(_: Shortcut) throws -> Bool {
        try didHear(.shortcut)
        return false
    }

    /// Calls ``didHear(_:)``.
    public func configurationDidChange(_: ConfigurationChange) throws {
        try didHear(.configurationChanged)
    }

    /// Every topic.
    public var topics: [String] { ["*"] }

    /// Calls ``didHear(_:)``.
    public func receive(_: Message) throws { try didHear(.message) }
}
