public import EventStreams

/// The settings of a ``RedisStreams`` engine.
public struct RedisSettings: Sendable {
    /// The server.
    public var address: RedisAddress
    /// The password, if the server requires one.
    public var password: RedisPassword?
    /// The user, if it is not the default one.
    public var user: String?
    /// The beginning of all keys: 1 to 64 letters, digits, `.`, `_` and `-`.
    public var app: String
    /// Whether the server must have each event on its disk before it answers.
    public var requiresDurability = true
    /// The time for which an absent host is waited for before events are removed that it has not seen.
    public var trim: Duration = .seconds(7 * 86400)
    /// The time for which entries stay that every host has; see ``RemovalDelay``.
    package var removalDelay: Duration = .seconds(180)
    /// The seconds in which the server must accept a connection, and answer a command.
    public var answerSeconds = 5
    /// The milliseconds for which `read` waits for entries; less than `answerSeconds`.
    public var waitMilliseconds = 2000

    /// The words that make a command wait for entries, no longer than the server has for an answer.
    var blocking: [String] {
        ["BLOCK", String(max(min(waitMilliseconds, answerSeconds * 1000 / 2), 1))]
    }

    /// Creates the settings of an app.
    ///
    /// - Throws: ``StreamError/invalid(_:)`` if `app` is not valid.
    public init(
        address: RedisAddress, app: String, password: RedisPassword? = nil
    ) throws(StreamError) {
        guard (1...64).contains(app.utf8.count), app.utf8.allSatisfy(Self.isAllowed) else {
            throw .invalid(
                "'app' must have 1 to 64 letters, digits, '.', '_' or '-', since the keys in Redis begin with it, not \(quoted(app))"
            )
        }
        self.address = address
        user = address.user
        self.app = app
        self.password = password
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The streams of hosts are `APP:HOSTID`; no host id is one of these words.
    var hostsKey: String { "\(app):hosts" }
    var seenKey: String { "\(app):seen" }
    var deadKey: String { "\(app):dead" }
    var groupsKey: String { "\(app):groups" }

    func key(_ name: StreamName) -> String { "\(app):\(name)" }
}
