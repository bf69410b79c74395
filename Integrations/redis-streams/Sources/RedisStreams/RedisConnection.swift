import CHiredis
import Dispatch
import EventStreams

/// A connection to Redis, of one thread at a time.
///
/// No command is ever sent a second time: a reply that is lost may be that of a command that was done. After an error the
/// connection must not be used any more.
final class RedisConnection {
    let address: RedisAddress
    /// Whether a reply was beyond the limits.
    private(set) var isReplyTooLarge = false
    private let seconds: Int
    private let context: UnsafeMutablePointer<redisContext>
    private let bounds: UnsafeMutablePointer<streams_bounds>

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: The server.
    ///   - seconds: The time for connecting, and for each reply.
    /// - Throws: ``StreamError/away(_:)``.
    init(to address: RedisAddress, seconds: Int) throws(StreamError) {
        let context = try Self.connect(to: address, seconds: seconds)
        guard context.pointee.err == 0, let bounds = streams_bound(context) else {
            let reason = Self.reason(of: context)
            redisFree(context)
            throw .away("cannot connect to \(address): \(reason). Is the server running?")
        }
        self.address = address
        self.seconds = seconds
        self.context = context
        self.bounds = bounds
    }

    private static func connect(
        to address: RedisAddress, seconds: Int
    ) throws(StreamError) -> UnsafeMutablePointer<redisContext> {
        let milliseconds = Int32(clamping: seconds * 1000)
        let context: UnsafeMutablePointer<redisContext>?
        switch address.place {
        case .socket(let path): context = streams_connect(path, 0, milliseconds)
        case .host(let host, let port):
            // Looking for the addresses of a name, and trying all of them, takes as long as it takes.
            let number = TimeLimit.run(
                within: .seconds(seconds * 2), on: DispatchQueue(label: "RedisConnection")
            ) {
                UInt(bitPattern: streams_connect(host, Int32(port), milliseconds))
            } release: {
                if let context = UnsafeMutablePointer<redisContext>(bitPattern: $0) {
                    redisFree(context)
                }
            }
            guard let number else {
                throw .away("cannot connect to \(address) in \(seconds * 2)s: is its name known?")
            }
            context = UnsafeMutablePointer(bitPattern: number)
        }
        guard let context else { throw .away("cannot connect to \(address): no memory") }
        return context
    }

    deinit {
        redisFree(context)
        free(bounds)
    }

    /// Sends commands, and returns the reply to each, in their order.
    ///
    /// - Throws: ``StreamError/away(_:)``, after which it is not known which commands were done; ``StreamError/unexpected(_:)`` if
    ///   the server does not speak the protocol, or too much.
    func send(_ commands: [RedisCommand]) throws(StreamError) -> [RedisReply] {
        var bytes: [UInt8] = []
        for command in commands { command.append(to: &bytes) }
        let code = bytes.withUnsafeBytes { streams_send(context, $0.baseAddress, $0.count) }
        guard code == 0 else {
            throw .away(
                streams_is_timeout(code) != 0
                    ? "\(address) did not take a command in \(seconds)s"
                    : "\(address) closed the connection")
        }
        var replies: [RedisReply] = []
        for command in commands { replies.append(try receive(command)) }
        return replies
    }

    private func receive(_ command: RedisCommand) throws(StreamError) -> RedisReply {
        var reply: UnsafeMutablePointer<redisReply>?
        let result = streams_receive(
            context, bounds, StreamLimits.reply, Int64(StreamLimits.reply / 64), &reply)
        guard let reply, result == REDIS_OK else { throw failure(command, isTooLarge: result == 1) }
        defer { freeReplyObject(reply) }
        return RedisReply(reply.pointee)
    }

    private func failure(_ command: RedisCommand, isTooLarge: Bool) -> StreamError {
        if isTooLarge {
            isReplyTooLarge = true
            return .unexpected(
                "\(address) answered \(command.name) with more than \(StreamLimits.reply) bytes, or with too many values: is it a Redis server?"
            )
        }
        let reason = Self.reason(of: context)
        switch context.pointee.err {
        case REDIS_ERR_PROTOCOL:
            return .unexpected(
                "\(address) answered \(command.name) with something else than the protocol of Redis: \(reason). Is it a Redis server?"
            )
        case REDIS_ERR_EOF:
            return .away("\(address) closed the connection before it answered \(command.name)")
        default: return .away("\(address) did not answer \(command.name) in \(seconds)s: \(reason)")
        }
    }

    /// The words of hiredis for its last error, which may quote what the server sent.
    private static func reason(of context: UnsafeMutablePointer<redisContext>) -> String {
        guard context.pointee.err != 0 else { return "no memory" }
        return withUnsafeBytes(of: context.pointee.errstr) { quoted($0.prefix { $0 != 0 }) }
    }
}
