import EventStreams
import Testing

@testable import RedisStreams

@Suite(.timeLimit(.minutes(1))) struct RedisValueTests {
    private let server: RedisServer
    private let value: RedisValue

    init() throws {
        server = try RedisServer()
        value = RedisValue(
            try RedisSettings(address: try server.address, app: "shop"), name: "document")
    }

    @Test func `Nil, then the value that was written last`() throws {
        #expect(try value.read(limit: 5) == nil)
        try value.write(Array("first".utf8))
        try value.write(Array("next\u{0}".utf8))
        #expect(try value.read(limit: 5) == Array("next\u{0}".utf8))
    }

    @Test func `A value beyond the limit is not received`() throws {
        try value.write(Array("123456".utf8))
        let error = try #require(throws: StreamError.self) { try value.read(limit: 5) }
        #expect(
            error.description
                == "'shop:document' in Redis at '\(server.socket)' has more than 5 bytes")
    }

    @Test func `A key of another kind, and a server that is away, are errors`() throws {
        try server.command("XADD", "shop:document", "*", "key", "value")
        let other = try #require(throws: StreamError.self) { try value.read(limit: 5) }
        #expect(other.description.contains("WRONGTYPE"))
        server.kill()
        let away = try #require(throws: StreamError.self) { try value.read(limit: 5) }
        guard case .away = away else {
            Issue.record("\(away)")
            return
        }
    }
}
