/// The result of a module's handling of a remote notification.
@nonexhaustive public enum FetchResult: String, Hashable, Sendable, CaseIterable {
    /// There was new data.
    case newData
    /// There was no new data.
    case noData
    /// The fetch failed. A handler that throws, and one that is overdue, count as this.
    case failed

    /// Returns the joined reply of several modules: `newData` before `failed` before `noData`.
    ///
    /// - Parameter other: The reply to join with this one.
    /// - Returns: The joined reply.
    public func joined(with other: FetchResult) -> FetchResult {
        switch (self, other) {
        case (.newData, _), (_, .newData): .newData
        case (.failed, _), (_, .failed): .failed
        case (.noData, .noData): .noData
        }
    }
}

/// A remote notification: a JSON object, with Apple's own part under `aps`.
///
/// The names are those of Apple's "Generating a remote notification".
public struct RemoteNotification: Decodable, Sendable {
    /// The part that the system itself reads.
    public struct APS: Decodable, Hashable, Sendable {
        /// The text to show, or its parts.
        public enum Alert: Decodable, Hashable, Sendable {
            /// One text.
            case text(String)
            /// Title, subtitle and body; each may be missing.
            case parts(title: String?, subtitle: String?, body: String?)

            private enum Parts: String, CodingKey {
                case title, subtitle, body
                case launchImage = "launch-image"
                case titleLocKey = "title-loc-key"
                case titleLocArgs = "title-loc-args"
                case subtitleLocKey = "subtitle-loc-key"
                case subtitleLocArgs = "subtitle-loc-args"
                case locKey = "loc-key"
                case locArgs = "loc-args"
            }

            /// Reads a text, or an object with the parts.
            ///
            /// - Parameter decoder: The decoder to read from.
            /// - Throws: An error where the value is neither.
            public init(from decoder: any Decoder) throws {
                if let text = try? decoder.singleValueContainer().decode(String.self) {
                    self = .text(text)
                    return
                }
                let parts = try decoder.container(keyedBy: Parts.self)
                self = .parts(
                    title: try parts.decodeIfPresent(String.self, forKey: .title),
                    subtitle: try parts.decodeIfPresent(String.self, forKey: .subtitle),
                    body: try parts.decodeIfPresent(String.self, forKey: .body))
            }
        }

        /// The text to show, if there is one.
        public var alert: Alert?
        /// The number to show on the app's icon; 0 removes it; nil leaves it.
        public var badge: UInt?
        /// Whether the notification is to wake the app without showing anything.
        public var isContentAvailable: Bool

        private enum Keys: String, CodingKey {
            case alert, badge, sound, category
            case contentAvailable = "content-available"
            case mutableContent = "mutable-content"
            case threadID = "thread-id"
            case targetContentID = "target-content-id"
            case interruptionLevel = "interruption-level"
            case relevanceScore = "relevance-score"
            case filterCriteria = "filter-criteria"
            case staleDate = "stale-date"
            case contentState = "content-state"
            case timestamp, event
            case dismissalDate = "dismissal-date"
        }

        /// Reads Apple's dictionary.
        ///
        /// - Parameter decoder: The decoder to read from.
        /// - Throws: An error where a value has the wrong type.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Keys.self)
            alert = try values.decodeIfPresent(Alert.self, forKey: .alert)
            badge = try values.decodeIfPresent(UInt.self, forKey: .badge)
            isContentAvailable =
                try values.decodeIfPresent(Int.self, forKey: .contentAvailable) == 1
        }
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The part that the system itself reads, if there is one.
    public var aps: APS?

    /// The whole notification; the app's own members stand beside `aps`.
    public internal(set) var payload: JSONValue?

    /// Reads the notification's object.
    ///
    /// ``payload`` is set by the host.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: An error where the value is not an object, or `aps` does not have Apple's form.
    public init(from decoder: any Decoder) throws {
        aps = try decoder.container(keyedBy: Key.self)
            .decodeIfPresent(APS.self, forKey: Key(stringValue: "aps"))
    }
}

extension RemoteNotification: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        var notification: RemoteNotification
        if let plain = RemoteNotification(plain: payload) {
            notification = plain
        } else {
            notification = try RemoteNotification(payload, of: .push)
        }
        notification.payload = payload
        return .push(notification)
    }
}

extension RemoteNotification: PlainlyDecodable {
    init?(plain payload: JSONValue) {
        guard payload.kind == .object else { return nil }
        guard let aps = payload["aps"], !aps.isNull else { return }
        guard let aps = APS(plain: aps) else { return nil }
        self.aps = aps
    }
}

extension RemoteNotification.APS {
    /// Reads the members of most notifications: a text, a badge, content.
    init?(plain value: JSONValue) {
        guard value.kind == .object else { return nil }
        isContentAvailable = false
        for member in value.members {
            switch member.key {
            case "alert":
                guard let text = member.value.string else { return nil }
                alert = .text(text)
            case "badge":
                guard let badge = member.value.integer(UInt.self) else { return nil }
                self.badge = badge
            case "content-available":
                guard let number = member.value.int else { return nil }
                isContentAvailable = number == 1
            case "sound", "category", "thread-id": break
            default: return nil
            }
        }
    }
}

/// The token by which the push service knows this device.
public struct DeviceToken: Decodable, Hashable, Sendable {
    /// The token, as hexadecimal digits.
    public var deviceToken: String
}

/// The reason why the push service refused this device.
public struct RegistrationFailure: Decodable, Error, Hashable, Sendable {
    /// The message of the push service.
    public var error: String
}

extension DeviceToken: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .deviceToken(try DeviceToken(payload, of: .pushRegistered))
    }
}

extension RegistrationFailure: EventPayload {
    static func content(from payload: JSONValue) throws(EventError) -> LifecycleEvent.Content {
        .registrationFailure(try RegistrationFailure(payload, of: .pushRegistrationFailed))
    }
}
