import EventStreams

extension RedisConnection {
    /// Connects, shows the password, and selects the database.
    ///
    /// - Throws: ``StreamError/away(_:)``, ``StreamError/refused(_:)`` or ``StreamError/unexpected(_:)``.
    static func login(_ settings: RedisSettings) throws(StreamError) -> RedisConnection {
        let address = settings.address
        let connection = try RedisConnection(to: address, seconds: settings.answerSeconds)
        if let password = settings.password {
            let user = (settings.user.map { [Array($0.utf8)] } ?? [])
            let command = RedisCommand([Array("AUTH".utf8)] + user + [password.bytes])
            try connection.one(command, "log in")
        }
        if address.database > 0 {
            try connection.one(
                RedisCommand("SELECT", String(address.database)),
                "use database \(address.database)")
        }
        return connection
    }

    /// Sends one command.
    ///
    /// - Throws: Also the error with which the server replied.
    @discardableResult
    func one(_ command: RedisCommand, _ action: String) throws(StreamError) -> RedisReply {
        let reply = try send([command]).first ?? .null
        try reply.check(action, at: address)
        return reply
    }

    /// Checks that the server has events on its disk before it answers.
    ///
    /// - Throws: ``StreamError/refused(_:)`` with what to do.
    func checkDurability() throws(StreamError) {
        let replies = try send([
            RedisCommand("CONFIG", "GET", "appendonly"),
            RedisCommand("CONFIG", "GET", "appendfsync"),
        ])
        for (name, (wanted, reply)) in zip(
            ["appendonly", "appendfsync"], zip(["yes", "always"], replies))
        {
            if let text = reply.errorText {
                if text.hasPrefix("NOAUTH") { try reply.check("ask for '\(name)'", at: address) }
                throw .refused(
                    "cannot ask \(address) whether it is durable (CONFIG GET \(name)): it says \(quoted(text)). Allow the command, or set \"requireDurable\": false if it is"
                )
            }
            guard let value = reply.pairs?[name]?.text else {
                throw reply.notExpected("ask for '\(name)'", at: address)
            }
            guard value == wanted else {
                throw .refused(
                    "\(address) is not durable: '\(name)' is \(quoted(value)), so accepted events are lost if it loses power. Set '\(name) \(wanted)' in redis.conf, or \"requireDurable\": false to accept the loss"
                )
            }
        }
    }
}
