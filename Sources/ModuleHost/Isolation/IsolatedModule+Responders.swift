extension IsolatedModule: RootProvider {
    var root: String? {
        get throws { declaration.suppliesRoot ? try askForRoot() : nil }
    }
}

extension IsolatedModule: SelectiveResponder {
    func wants<Responder>(_ responder: Responder.Type) -> Bool {
        let kinds = ResponderKind.events(of: responder)
        return !declaration.events.isDisjoint(with: kinds)
    }

    func hears(_ kind: EventKind) -> Bool { declaration.events.contains(kind) }

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
