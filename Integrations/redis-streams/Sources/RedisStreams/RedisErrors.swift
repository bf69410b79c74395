import EventStreams

extension RedisReply {
    /// Throws if the reply is an error.
    ///
    /// - Parameter action: What was asked for, to follow "cannot".
    func check(_ action: String, at address: RedisAddress) throws(StreamError) {
        guard let text = errorText else { return }
        throw Self.streamError(text, action, address)
    }

    /// The error of a reply that is of another kind than the command has.
    func notExpected(_ action: String, at address: RedisAddress) -> StreamError {
        errorText.map { Self.streamError($0, action, address) }
            ?? .unexpected(
                "cannot \(action): \(address) answered with \(kind). Is it a Redis server?")
    }

    /// The meaning of an error reply, by its first word.
    private static func streamError(
        _ text: String, _ action: String, _ address: RedisAddress
    ) -> StreamError {
        let what = "cannot \(action): \(address) says \(quoted(text))"
        switch text.split(separator: " ", maxSplits: 1).first {
        case "OOM":
            return .full(
                "\(what). Its memory is full: it becomes free when the other hosts have read, or raise 'maxmemory'"
            )
        case "MISCONF": return .full("\(what). It cannot save: is its disk full?")
        case "NOAUTH", "WRONGPASS":
            return .refused("\(what). Check 'passwordFile' and the user in 'url'")
        case "NOPERM":
            return .refused("\(what). Its ACL must allow the commands and keys of README.md")
        case "LOADING", "BUSY", "MASTERDOWN", "READONLY", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS":
            return .away(what)
        case "WRONGTYPE":
            return .refused("\(what). Another program uses the key: give 'app' another name")
        default:
            if text.hasPrefix("ERR invalid password") || text.hasPrefix("ERR AUTH") {
                return .refused("\(what). Check 'passwordFile' and the user in 'url'")
            }
            return .unexpected(what)
        }
    }
}
