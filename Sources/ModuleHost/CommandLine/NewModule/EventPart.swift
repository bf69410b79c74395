/// An event that a new module receives.
struct EventPart {
    let kind: EventKind

    init(_ kind: EventKind) { self.kind = kind }

    /// The protocol with its handler.
    var responder: String {
        switch kind {
        case .launch: "LaunchResponder"
        case .activate, .resignActive: "ActivationResponder"
        case .background, .foreground: "BackgroundResponder"
        case .terminate: "TerminationResponder"
        case .memoryWarning: "MemoryWarningResponder"
        case .push, .pushRegistered, .pushRegistrationFailed: "RemoteNotificationResponder"
        case .notificationSettings: "NotificationSettingsResponder"
        case .localNotification: "LocalNotificationResponder"
        case .openURL: "URLResponder"
        case .userActivity: "UserActivityResponder"
        case .shortcut: "ShortcutResponder"
        case .configurationChanged: "ConfigurationResponder"
        case .message: "MessageResponder"
        }
    }

    /// The declaration of its handler, without `func` and `throws`.
    var signature: String {
        switch kind {
        case .launch: "didFinishLaunching(_ launch: Launch)"
        case .activate: "didBecomeActive()"
        case .resignActive: "willResignActive()"
        case .background: "didEnterBackground()"
        case .foreground: "willEnterForeground()"
        case .terminate: "willTerminate()"
        case .memoryWarning: "didReceiveMemoryWarning()"
        case .push: "didReceiveRemoteNotification(_ notification: RemoteNotification)"
        case .pushRegistered: "didRegisterForRemoteNotifications(deviceToken: DeviceToken)"
        case .pushRegistrationFailed:
            "didFailToRegisterForRemoteNotifications(error: RegistrationFailure)"
        case .notificationSettings:
            "didChangeNotificationSettings(_ settings: NotificationSettings)"
        case .localNotification: "didReceiveLocalNotification(_ notification: LocalNotification)"
        case .openURL: "open(_ url: String, options: OpenURLOptions)"
        case .userActivity: "continueActivity(_ activity: UserActivity)"
        case .shortcut: "performShortcut(_ shortcut: Shortcut)"
        case .configurationChanged: "configurationDidChange(_ change: ConfigurationChange)"
        case .message: "receive(_ message: Message)"
        }
    }

    /// The type of the handler's result and a value of it, as Swift code; nil for none.
    var result: (type: String, value: String)? {
        switch kind {
        case .push: ("FetchResult", ".noData")
        // Not claimed: the next module is asked, or the URL's route.
        case .openURL, .userActivity, .shortcut: ("Bool", "false")
        default: nil
        }
    }

    /// The statement by which a test delivers it, as Swift code; nil where that happens by itself, or only in
    /// a reload.
    func delivery(topic: String) -> String? {
        switch kind {
        case .launch, .activate, .terminate, .configurationChanged: nil
        case .resignActive: "try await host.deliver(.resignActive)"
        case .background: "try await host.deliver(.background)"
        case .foreground: "try await host.deliver(.foreground)"
        case .memoryWarning: "try await host.deliver(.memoryWarning)"
        case .push: deliver("push", #"{"aps": {"badge": 1}}"#)
        case .pushRegistered: deliver("pushRegistered", #"{"deviceToken": "a1b2"}"#)
        case .pushRegistrationFailed: deliver("pushRegistrationFailed", #"{"error": "refused"}"#)
        case .notificationSettings: deliver("notificationSettings", #"{"alert": true}"#)
        case .localNotification: deliver("localNotification", #"{"title": "tea"}"#)
        case .openURL: deliver("openURL", #"{"url": "slate://tea"}"#)
        case .userActivity: deliver("userActivity", #"{"type": "reading"}"#)
        case .shortcut: deliver("shortcut", #"{"type": "new"}"#)
        case .message: deliver("message", #"{"topic": "\#(topic)", "payload": 1}"#)
        }
    }

    private func deliver(_ name: String, _ payload: String) -> String {
        "try await host.deliver(.\(name), #\"\(payload)\"#)"
    }

    /// The order in which a test delivers events: those of the foreground come first.
    static let order: [EventKind] =
        EventKind.allCases.filter { ![.resignActive, .background, .foreground].contains($0) }
        + [.resignActive, .background, .foreground]
}
