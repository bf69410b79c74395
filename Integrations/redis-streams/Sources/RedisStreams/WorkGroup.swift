public import EventStreams

/// A group of hosts that share messages: each is given to one of them.
public struct WorkGroup: Hashable, Sendable {
    /// The name: 1 to 64 letters, digits, `.`, `_` and `-`.
    public let name: String
    /// The topics of the messages, which are the same in all hosts of the group.
    public let topics: [String]
    /// Whether a new group receives what is in the streams already.
    public let beginsAtStart: Bool
    /// The time after which others are given what a host has not finished, and is silent about; at least 1 s.
    public let claim: Duration

    /// Creates a group.
    ///
    /// - Throws: ``StreamError/invalid(_:)`` if the name is not valid.
    public init(
        name: String, topics: [String], beginsAtStart: Bool, claim: Duration
    ) throws(StreamError) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(RedisSettings.isAllowed)
        else {
            throw .invalid(
                "'group' must have 1 to 64 letters, digits, '.', '_' or '-', not \(quoted(name))")
        }
        self.name = name
        self.topics = topics.sorted()
        self.beginsAtStart = beginsAtStart
        self.claim = claim
    }

    var claimMilliseconds: Int64 {
        let (seconds, attoseconds) = claim.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
