public import ModuleHostCore

/// A module for remote notifications in the form of Apple's push service: it keeps the badge count, and opens
/// the URI that the app's own server put beside `aps`.
///
/// The URI is opened as a call from outside. It reaches public routes, and with a token in it those that the
/// token's scope covers.
///
/// A notification with an alert, a badge or a URI that was opened is `newData`; one whose URI could not be
/// opened, with nothing else in it, is `failed`; one that only wakes the app is `noData`.
///
/// | setting | | default |
/// |---|---|---|
/// | `uriKey` | the key of the URI in notifications | `uri` |
public final class PushModule: RemoteNotificationResponder, ConfiguredModule {
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let uriKey: String?
    }

    /// The number on the app's icon.
    ///
    /// Only notifications change it: a user who opens the app may not have seen everything that it counts.
    private(set) var badge: UInt = 0
    /// The token that the app's own server needs for this device; nil while the device is not registered.
    private(set) var deviceToken: DeviceToken?

    private let uriKey: String
    private let context: ModuleContext
    private var log: Log { context.log }

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings, its log, and the router.
    /// - Throws: ``JSONError`` where the settings are not valid.
    public init(context: ModuleContext) throws {
        uriKey = try context.config(Configuration.self).uriKey ?? "uri"
        self.context = context
    }

    /// Reads the badge of a notification, and opens the URI.
    ///
    /// - Parameter notification: The notification.
    /// - Returns: Whether there was new data in it.
    /// - Throws: An error where the URI is not a string. The badge is stored even so. A URI that cannot be
    ///   opened is the sender's error, and only logged.
    public func didReceiveRemoteNotification(
        _ notification: RemoteNotification
    ) throws -> FetchResult {
        if let badge = notification.aps?.badge {
            self.badge = badge
            log.info("badge count is \(badge)")
        }
        let isNew = notification.aps?.alert != nil || notification.aps?.badge != nil
        let result = isNew ? FetchResult.newData : .noData
        guard let uri = try uri(of: notification) else { return result }
        return result.joined(with: open(uri))
    }

    private func open(_ uri: String) -> FetchResult {
        do {
            try context.router.open(uri, from: .push)
            log.info("opened \(Self.publicPart(of: uri))")
            return .newData
        } catch {
            log.warning("cannot open \(Self.publicPart(of: uri)): \(Self.publicPart(of: error))")
            return .failed
        }
    }

    /// Stores the device's token.
    ///
    /// - Parameter deviceToken: The token for the server that sends notifications.
    public func didRegisterForRemoteNotifications(deviceToken: DeviceToken) {
        self.deviceToken = deviceToken
        // The complete token is sufficient to address this device.
        log.info("registered for push, device token \(deviceToken.deviceToken.prefix(8))…")
    }

    /// Removes the device's token.
    ///
    /// - Parameter error: The service's reason.
    public func didFailToRegisterForRemoteNotifications(error: RegistrationFailure) {
        deviceToken = nil
        log.warning("the push service refused this device: \(error.error)")
    }

    private func uri(of notification: RemoteNotification) throws -> String? {
        guard let value = notification.payload?[uriKey], !value.isNull else { return nil }
        guard let uri = value.string else { throw PushURIError(key: uriKey, found: value.kind) }
        return uri
    }

    /// Returns the part of a URI that a log may show; the rest may contain a token.
    static func publicPart(of uri: String) -> String {
        guard let url = try? RouteURL(uri) else { return "a URI" }
        guard let authority = url.authority else { return "\(url.scheme):…" }
        return "\(url.scheme)://\(authority.prefix(64))/…"
    }
}

extension PushModule {
    /// Returns the reason why a URI was not opened, without any part of it.
    static func publicPart(of error: any Error) -> String {
        switch error {
        case let error as ParameterError where error.name.isEmpty: "the route refuses the request"
        case let error as ParameterError: "the route refuses parameter '\(error.name)'"
        case RouteError.notFound: "no route that a push can reach"
        case RouteError.rewriteLoop: "the rewrites never end"
        default: "\(error)"
        }
    }
}

/// The error for a notification whose URI is not a string.
struct PushURIError: Error, Hashable, CustomStringConvertible {
    let key: String
    let found: JSONValue.Kind

    /// The error with the key and the type; never with the value.
    var description: String { "'\(key)' of the notification must be a string; it is \(inWords)" }

    private var inWords: String {
        switch found {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
