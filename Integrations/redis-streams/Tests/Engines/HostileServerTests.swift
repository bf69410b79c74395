import EventStreams
import RedisStreams
import Testing

/// Servers that are not Redis, or mean harm.
@Suite(.timeLimit(.minutes(2))) struct HostileServerTests {
    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n", ":12\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n",
        "$3\r\nabc\r\n", "*1\r\n:1\r\n", "*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*2\r\n$23\r\nshop:a000000000000001\r\n*1\r\n:1\r\n",
        "-ERR \u{1b}[2J\u{7}\u{9b}1m\u{202e}evil\r\n", "-\r\n",
        String(repeating: "*1\r\n", count: 100_000), "*2147483647\r\n", "*9999999999999\r\n",
        "$99999999999999\r\n", "$-5\r\n",
        "*1000000\r\n" + String(repeating: "*1000000\r\n", count: 6),
        String(repeating: "*700000\r\n", count: 5),
        "-" + String(repeating: "x", count: 1 << 20) + "\r\n", "", "\r\n\r\n", "*3\r\n",
    ]) func repliesAreErrorsAndNothingElse(_ reply: String) async throws {
        let server = try HostileServer(Array(reply.utf8))
        var settings = try RedisSettings(address: server.address, app: "shop")
        settings.answerSeconds = 1
        settings.waitMilliseconds = 50
        settings.requiresDurability = false
        let engine = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        let verbs: [(isEmptyPossible: Bool, () async throws -> Any)] = [
            (false, { try await engine.publish([event(10)]) }),
            (true, { try await engine.read(after: [Hosts.a: .start], limit: 10) }),
            (true, { try await engine.hosts() }),
        ]
        for (isEmptyPossible, verb) in verbs {
            let error = await streamError(verb)
            guard let error else {
                #expect(isEmptyPossible && ["$-1\r\n", "*-1\r\n", "*0\r\n"].contains(reply))
                continue
            }
            switch error {
            case .away, .unexpected, .owned: break
            default: fail("\(error)")
            }
            let text = "\(error)"
            #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
            #expect(!text.contains("\u{9b}") && !text.contains("\u{202e}"))
            #expect(text.utf8.count < 1000)
        }
    }

    @Test func endlessReplyIsNotReceived() async throws {
        // 64 KiB again and again: a value of 1 TB.
        let server = try HostileServer(
            Array("$1000000000000\r\n".utf8), then: [UInt8](repeating: 120, count: 1 << 16))
        let settings = try RedisSettings(address: server.address, app: "shop")
        let engine = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        guard case .unexpected(let text) = await streamError({ try await engine.hosts() }) else {
            return fail("no error")
        }
        #expect(text.contains("with more than 67108864 bytes"))
    }

    @Test func silentServerIsAway() async throws {
        let server = try HostileServer([])
        var settings = try RedisSettings(address: server.address, app: "shop")
        settings.answerSeconds = 1
        let engine = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        guard case .away(let text) = await streamError({ try await engine.hosts() }) else {
            return fail("no error")
        }
        #expect(text.hasPrefix("Redis at '/tmp/streams-"))
        #expect(text.contains("did not answer HKEYS in 1s"))
    }
}
