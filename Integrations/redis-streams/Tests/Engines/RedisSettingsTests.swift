import EventStreams
import Foundation
import Testing

@testable import RedisStreams

/// The settings of Redis, and those of the engine.
@Suite(.timeLimit(.minutes(2))) struct RedisSettingsTests {
    private func publish(
        _ server: RedisServer, _ change: (inout RedisSettings) throws -> Void = { _ in }
    )
        async throws -> StreamError?
    {
        var settings = try RedisSettings(address: server.address, app: "shop")
        try change(&settings)
        let engine = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        return await streamError { try await engine.publish([event(10)]) }
    }

    @Test func serverMustBeDurable() async throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "everysec"])
        let place = "Redis at '\(server.socket)'"
        #expect(
            try await publish(server)
                == .refused(
                    "\(place) is not durable: 'appendfsync' is 'everysec', so accepted events are lost if it loses power. Set 'appendfsync always' in redis.conf, or \"requireDurable\": false to accept the loss"
                ))
        try server.command("CONFIG", "SET", "appendonly", "no")
        guard case .refused(let text) = try await publish(server) else { return fail("published") }
        #expect(text.contains("'appendonly' is 'no'"))
        #expect(try await publish(server) { $0.requiresDurability = false } == nil)
        // A user who may not ask.
        try server.command(
            "ACL", "SETUSER", "bridge", "on", ">secret-words", "~shop:*", "+@all", "-config")
        guard
            case .refused(let denied) = try await publish(
                server,
                {
                    $0.address = try RedisAddress(url: "unix:" + server.socket)
                    $0.password = try RedisPassword("secret-words")
                    $0.user = "bridge"
                })
        else { return fail("published") }
        #expect(
            denied.hasPrefix(
                "cannot ask \(place) whether it is durable (CONFIG GET appendonly): it says 'NOPERM"
            ))
    }

    @Test func passwordIsShownToTheServerAndToNoOther() async throws {
        let server = try RedisServer(RedisServer.durable + ["--requirepass", "secret-words"])
        let file = server.folder + "/password"
        try Data("secret-words\n".utf8).write(to: URL(fileURLWithPath: file))
        let password = try RedisPassword(file: file)
        #expect(try await publish(server) { $0.password = password } == nil)
        for (wrong, what) in [
            (nil, "NOAUTH"), (try RedisPassword("secret-words2"), "WRONGPASS"),
        ] {
            let error = try await publish(server) { $0.password = wrong }
            guard case .refused(let text) = error else {
                return fail("expected that it is refused: \(error as Any)")
            }
            #expect(text.contains(what) && text.contains("Check 'passwordFile'"))
            #expect(!text.contains("secret-words"))
        }
        var dumped = ""
        dump(password, to: &dumped)
        #expect(!"\(password) \(String(reflecting: password)) \(dumped)".contains("115"))
        #expect("\(password)" == "(hidden)")
        // A server without a password says so.
        let open = try RedisServer()
        guard case .refused = try await publish(open, { $0.password = password }) else {
            return fail("published")
        }
    }

    /// The user of README.md, who may do nothing else.
    @Test func userWithTheRightsOfTheReadmeIsEnough() async throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../README.md")
        let readme = try String(contentsOf: path, encoding: .utf8)
        let line = try #require(readme.split(separator: "\n").first { $0.contains("`~APP:* ") })
        let rights = line.replacing("APP:", with: "shop:").split { " `.".contains($0) }
            .filter { $0.hasPrefix("+") || $0.hasPrefix("~") }.map(String.init)
        #expect(rights.count > 15)
        let server = try RedisServer()
        let connection = try RedisConnection(to: server.address, seconds: 5)
        let user = ["ACL", "SETUSER", "bridge", "reset", "on", ">secret-words"] + rights
        try connection.one(RedisCommand(user.map { Array($0.utf8) }), "test")
        let address = try RedisAddress(url: "unix:" + server.socket)
        var settings = try RedisSettings(
            address: address, app: "shop", password: RedisPassword("secret-words"))
        settings.user = "bridge"
        settings.waitMilliseconds = 50
        settings.removalDelay = .zero
        let engine = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        for window in [[event(10)], [event(10), event(20)]] { _ = try await engine.publish(window) }
        try server.command("HSET", "shop:seen", Hosts.b.text, "9999999999999 \(Hosts.a)=1-10")
        try await engine.seen([Hosts.a: position(20)])
        #expect(try await engine.hosts() == [Hosts.a: position(20)])
        let entry = try #require(await engine.read(after: [Hosts.a: .start], limit: 9).first)
        #expect(entry.position == position(20))
        try await engine.dead(entry, reason: "test")
        let group = try WorkGroup(
            name: "g", topics: ["x"], beginsAtStart: true, claim: .seconds(60))
        let taker = RedisTaker(settings, group, own: Hosts.b)
        #expect(try await taker.take(9).map(\.position) == [position(20)])
        #expect(try await taker.take(9) == [])
        let keeper = RedisKeeper(settings, group, own: Hosts.b)
        try await keeper.hold([Hosts.a: [position(20)]])
        try await keeper.finish([Hosts.a: [position(20)]])
        #expect(try await keeper.finished(of: [Hosts.a]) == [Hosts.a: position(20)])
        // Another app's keys are not for this user.
        settings.app = "other"
        let other = RedisStreams(settings, owner: StreamOwner(name: Hosts.a, mark: "a"))
        guard case .refused(let text) = await streamError({ try await other.hosts() }) else {
            return fail("allowed")
        }
        #expect(text.contains("Its ACL must allow"))
    }

    @Test func passwordIsNotSentUnencrypted() throws {
        let remote = try RedisAddress(url: "redis://10.0.0.7")
        #expect(
            throws: StreamError.invalid(
                "a password would be sent unencrypted to Redis at '10.0.0.7:6379': use a tunnel and the URL of its end on this machine (README.md, TLS), or set \"insecure\": true if the network is trusted"
            )
        ) { try RedisPassword.check(isUsed: true, at: remote, isInsecureAllowed: false) }
        try RedisPassword.check(isUsed: false, at: remote, isInsecureAllowed: false)
        try RedisPassword.check(isUsed: true, at: remote, isInsecureAllowed: true)
        for url in ["redis://127.0.0.1", "redis://localhost:7000", "redis://[::1]:1", "unix:/r"] {
            try RedisPassword.check(
                isUsed: true, at: RedisAddress(url: url), isInsecureAllowed: false)
        }
        for url in [
            "redis://127.0.0.1.example.com", "redis://localhost.example.com", "redis://0.0.0.0",
        ] {
            #expect(!(try RedisAddress(url: url).isLocal))
        }
    }

    @Test func serverIsReachedByTCP() async throws {
        let server = try RedisServer()
        // A port of the system's choice, which is free again.
        let port = try freePort()
        try server.command("CONFIG", "SET", "port", String(port))
        for host in ["127.0.0.1", "localhost"] {
            let error = try await publish(server) {
                $0.address = try RedisAddress(url: "redis://\(host):\(port)/3")
            }
            #expect(error == nil)
        }
        let error = try await publish(server) {
            $0.address = try RedisAddress(url: "redis://no-such-host.invalid:\(port)")
        }
        guard case .away(let text) = error else { return fail("\(error as Any)") }
        #expect(text.hasPrefix("cannot connect to Redis at 'no-such-host.invalid:\(port)'"))
    }

    @Test func addressHasItsParts() throws {
        let address = try RedisAddress(url: "redis://bridge@db.example.com:7000/3")
        #expect(address.place == .host("db.example.com", port: 7000))
        #expect(address.database == 3 && address.user == "bridge")
        #expect(try RedisAddress(url: "redis://[fd00::1]/").place == .host("fd00::1", port: 6379))
        #expect(try RedisAddress(url: "unix:/run/r.sock").place == .socket("/run/r.sock"))
    }

    @Test(arguments: [
        ("http://a", "'url' must begin with 'redis://' or 'unix:'"),
        ("redis://", "'url' must have the name or address of a host"),
        ("redis://a:0", "'url' must have a port from 1 to 65535, or none"),
        ("redis://a:66000", "'url' must have a port from 1 to 65535, or none"),
        ("redis://a:-1", "'url' must have a port from 1 to 65535, or none"),
        ("redis://a b", "'url' must have the name or address of a host"),
        ("redis://a/x", "'url' must end with the number of a database, such as '/0'"),
        ("redis://a/-1", "'url' must end with the number of a database, such as '/0'"),
        ("redis://@a", "'url' has no user before the '@'"),
        (
            "redis://u:secret@a",
            "'url' must not have a password, since URLs are shown: use 'passwordFile' or 'password'"
        ),
        (
            "redis://u:sec@ret@a",
            "'url' must not have a password, since URLs are shown: use 'passwordFile' or 'password'"
        ),
        (
            "unix:r.sock",
            "'url' must have the path of a socket, such as 'unix:/run/redis/redis.sock', of at most 107 bytes"
        ),
        (
            "rediss://a",
            "'url' begins with 'rediss://', but TLS needs a tunnel: give the URL of its end on this machine, such as 'unix:/run/redis/tunnel.sock'"
        ),
    ]) func addressWithAnError(_ url: String, _ text: String) {
        #expect(throws: StreamError.invalid(text)) { try RedisAddress(url: url) }
    }

    @Test func appAndPasswordWithErrors() throws {
        let address = try RedisAddress(url: "redis://a")
        for app in ["", "a b", "a:b", String(repeating: "a", count: 65), "\u{1b}[2J"] {
            #expect(throws: StreamError.self) { try RedisSettings(address: address, app: app) }
        }
        #expect(throws: StreamError.invalid("'password' is empty: it must have a password")) {
            try RedisPassword("")
        }
        #expect(
            throws: StreamError.invalid("'passwordFile': there is no file '/tmp/none/at/all'")
        ) { try RedisPassword(file: "/tmp/none/at/all") }
        #expect(
            throws: StreamError.invalid(
                "'passwordFile': cannot read '/tmp': it is not a regular file")
        ) { try RedisPassword(file: "/tmp") }
    }
}
