/// An object that conforms to every responder protocol, and wants to be told by some of them.
protocol SelectiveResponder: AnyObject {
    func wants<Responder>(_ responder: Responder.Type) -> Bool
}

extension IsolatedModule: SelectiveResponder {
    func wants<Responder>(_ responder: Responder.Type) -> Bool {
        guard let kinds = Self.kinds(of: responder) else { return false }
        return !declaration.events.isDisjoint(with: kinds)
    }

    /// The events of a responder protocol; nil for one that has none.
    private static func kinds(of responder: Any.Type) -> Set<EventKind>? {
        switch responder {
        case is (any LaunchResponder).Type: [.launch]
        case is (any ActivationResponder).Type: [.activate, .resignActive]
        case is (any BackgroundResponder).Type: [.background, .foreground]
        case is (any TerminationResponder).Type: [.terminate]
        case is (any MemoryWarningResponder).Type: [.memoryWarning]
        case is (any RemoteNotificationResponder).Type:
            [.push, .pushRegistered, .pushRegistrationFailed]
        case is (any NotificationSettingsResponder).Type: [.notificationSettings]
        case is (any LocalNotificationResponder).Type: [.localNotification]
        case is (any URLResponder).Type: [.openURL]
        case is (any UserActivityResponder).Type: [.userActivity]
        case is (any ShortcutResponder).Type: [.shortcut]
        case is (any ConfigurationResponder).Type: [.configurationChanged]
        case is (any MessageResponder).Type: [.message]
        default: nil
        }
    }

    private func claims() throws -> Bool { try tell()["claimed"]?.bool ?? false }
}

extension IsolatedModule: LaunchResponder, ActivationResponder, BackgroundResponder,
    TerminationResponder, MemoryWarningResponder, RemoteNotificationResponder,
    NotificationSettingsResponder, LocalNotificationResponder, URLResponder,
    UserActivityResponder, ShortcutResponder, ConfigurationResponder, MessageResponder
{
    convenience init(context: ModuleContext) throws { throw IsolationError.gone }

    func didFinishLaunching(_ launch: Launch) throws { _ = try tell() }
    func didBecomeActive() throws { _ = try tell() }
    func willResignActive() throws { _ = try tell() }
    func didEnterBackground() throws { _ = try tell() }
    func willEnterForeground() throws { _ = try tell() }
    func willTerminate() throws { _ = try tell() }
    func didReceiveMemoryWarning() throws { _ = try tell() }

    func didReceiveRemoteNotification(_ notification: RemoteNotification) throws -> FetchResult {
        try tell()["fetch"]?.string.flatMap(FetchResult.init) ?? .noData
    }

    func didRegisterForRemoteNotifications(deviceToken: DeviceToken) throws { _ = try tell() }

    func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) throws {
        _ = try tell()
    }

    func didChangeNotificationSettings(_ settings: NotificationSettings) throws { _ = try tell() }
    func didReceiveLocalNotification(_ notification: LocalNotification) throws { _ = try tell() }
    func open(_ url: String, options: OpenURLOptions) throws -> Bool { try claims() }
    func continueActivity(_ activity: UserActivity) throws -> Bool { try claims() }
    func performShortcut(_ shortcut: Shortcut) throws -> Bool { try claims() }
    func configurationDidChange(_ change: ConfigurationChange) throws { _ = try tell() }

    var topics: [String] { declaration.topics }
    func receive(_ message: Message) throws { _ = try tell() }
}
