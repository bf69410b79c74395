import EventStreams
public import RedisStreams

/// The settings of a bridge, as the `config` of its module has them.
public struct BridgeSettings: Sendable {
    /// The place of a host that was never here: which events it receives.
    public enum Beginning: String, CaseIterable, Sendable {
        /// Those that come from now on.
        case now
        /// All that are still there.
        case start
    }

    /// The server, the password, and the app.
    public var redis: RedisSettings
    /// The topics of messages that go out.
    public var topics: TopicFilter
    /// The topics of messages that come in.
    public var receive: TopicFilter
    /// The topics of messages of which each comes to one host of the group.
    public var share: TopicFilter
    /// The group; nil for a host that shares nothing.
    public var group: WorkGroup?
    /// The events that a host receives that was never here.
    public var from: Beginning
    /// The number of events that are published, or sent to the inbox, together.
    public var window: Int
    /// Whether events of other engines go out: messages that have a `source`.
    public var relay: Bool
}

/// The errors of a bridge's `config`, all of them.
public struct BridgeSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for each, which begins with the key.
    public let errors: [String]

    /// One line for each error.
    public var description: String { errors.joined(separator: "\n") }
}

extension BridgeSettings {
    /// The largest window of a host that shares work: half of the events that a host has open at a time.
    private static let mostShared = 128

    /// Reads settings.
    ///
    /// - Parameters:
    ///   - values: The `config` of the module.
    ///   - app: The app's name, which `app` may replace.
    ///   - folder: The folder in which relative paths are.
    /// - Throws: ``BridgeSettingsError`` with all errors at once.
    init(from values: [SettingKey: SettingValue], app: String, folder: String)
        throws(BridgeSettingsError)
    {
        let reader = SettingsReader(values)
        let address = reader.read(.url) { text throws(StreamError) in try RedisAddress(url: text) }
        if !reader.has(.url) {
            reader.errors.append(
                "'url' is missing: where is Redis? Such as 'unix:/run/redis/redis.sock'")
        }
        let file = reader.read(.passwordFile) { text throws(StreamError) in
            try RedisPassword(file: text.hasPrefix("/") ? text : "\(folder)/\(text)")
        }
        let text = reader.read(.password) { text throws(StreamError) in try RedisPassword(text) }
        if reader.has(.passwordFile), reader.has(.password) {
            reader.errors.append("'password' and 'passwordFile' are two passwords: remove one")
        }
        let isInsecureAllowed = reader.flag(.insecure, default: false)
        topics = reader.topics(.topics, default: nil)
        receive = reader.topics(.receive, default: ["*"])
        from = reader.choice(.from, default: .now)
        window = reader.number(.window, in: 1...StreamLimits.window, default: 64)
        relay = reader.flag(.relay, default: false)
        let trim = reader.duration(.trim, default: .seconds(7 * 86400))
        let requiresDurability = reader.flag(.requireDurable, default: true)
        share = reader.topics(.share, default: [])
        let claim = reader.duration(.claim, default: .seconds(60))
        let groupName = reader.read(.group) { $0 } ?? "default"
        let (shared, beginsAtStart) = (share.topics, from == .start)
        var group: WorkGroup?
        reader.collect { () throws(StreamError) in
            group = try WorkGroup(
                name: groupName, topics: shared, beginsAtStart: beginsAtStart, claim: claim)
        }
        self.group = shared.isEmpty ? nil : group
        if !shared.isEmpty, window > Self.mostShared {
            reader.errors.append(
                "'window' must be at most \(Self.mostShared) with 'share': the host has no more durable events at a time that modules have yet to answer"
            )
        }
        let name = reader.read(.app) { $0 } ?? app
        var redis: RedisSettings?
        reader.collect { () throws(StreamError) in
            // Another address has the same errors in the rest.
            let place = if let address { address } else { try RedisAddress(url: "unix:/unknown") }
            redis = try RedisSettings(address: place, app: name, password: file ?? text)
        }
        if let address {
            reader.collect { () throws(StreamError) in
                try RedisPassword.check(
                    isUsed: reader.has(.password) || reader.has(.passwordFile), at: address,
                    isInsecureAllowed: isInsecureAllowed)
            }
        }
        guard reader.errors.isEmpty, var redis else {
            throw BridgeSettingsError(errors: reader.errors)
        }
        redis.trim = trim
        redis.requiresDurability = requiresDurability
        self.redis = redis
    }
}

/// The `config` of a bridge, which becomes ``BridgeSettings`` where the app and its folder are known.
public struct BridgeConfiguration: Decodable, Sendable {
    private let values: [SettingKey: SettingValue]

    /// Reads all keys.
    ///
    /// - Parameter decoder: The `config` of the module.
    /// - Throws: ``BridgeSettingsError`` with all unknown keys, and all values of a wrong type.
    public init(from decoder: any Decoder) throws {
        values = try SettingsReader.values(decoder)
    }

    /// Returns the settings.
    ///
    /// - Parameters:
    ///   - app: The app's name, which the key `app` may replace.
    ///   - folder: The folder in which a relative `passwordFile` is.
    /// - Throws: ``BridgeSettingsError`` with all errors at once.
    public func settings(
        app: String, folder: String
    ) throws(BridgeSettingsError) -> BridgeSettings {
        try BridgeSettings(from: values, app: app, folder: folder)
    }
}
