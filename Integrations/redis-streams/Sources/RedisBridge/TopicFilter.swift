/// Topics, in the form in which modules name them.
public struct TopicFilter: Hashable, Sendable {
    /// Exact topics, prefixes such as `shared.*`, or `*`.
    public let topics: [String]

    init(_ topics: [String]) { self.topics = topics }

    /// Returns whether a text is a topic or a prefix: an asterisk stands at the end only.
    static func isValid(_ topic: String) -> Bool {
        let star = topic.firstIndex(of: "*")
        return !topic.isEmpty
            && (star == nil || topic == "*"
                || topic.hasSuffix(".*")
                    && star == topic.index(before: topic.endIndex))
    }

    func contains(_ topic: String) -> Bool {
        topics.contains {
            $0 == "*" || $0 == topic || $0.hasSuffix(".*") && topic.hasPrefix($0.dropLast())
        }
    }
}
