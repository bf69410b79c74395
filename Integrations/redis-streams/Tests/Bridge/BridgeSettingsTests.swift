import Foundation
import Testing

@testable import RedisBridge
@testable import RedisStreams

/// The keys of a bridge's `config`.
@Suite struct BridgeSettingsTests {
    private func settings(_ text: String) throws -> BridgeSettings {
        try JSONDecoder().decode(BridgeConfiguration.self, from: Data(text.utf8))
            .settings(app: "shop", folder: "/srv/shop")
    }

    private func errors(_ text: String) -> [String] {
        do {
            _ = try settings(text)
            return []
        } catch {
            return (error as? BridgeSettingsError)?.errors ?? ["\(error)"]
        }
    }

    @Test func defaults() throws {
        let settings = try settings(#"{"url": "unix:/r", "topics": ["shared.*", "x"]}"#)
        #expect(settings.redis.address.place == .socket("/r"))
        #expect(settings.redis.app == "shop" && settings.redis.requiresDurability)
        #expect(settings.redis.trim == .seconds(7 * 86400) && settings.redis.password == nil)
        #expect(settings.window == 64 && settings.from == .now && !settings.relay)
        #expect(settings.share.topics == [] && settings.group == nil)
        #expect(settings.receive.contains("anything") && settings.topics.contains("shared.a.b"))
        #expect(!settings.topics.contains("shared") && !settings.topics.contains("x.y"))
    }

    @Test func allKeys() throws {
        let settings = try settings(
            #"""
            {"url": "redis://db", "app": "other", "topics": [], "receive": ["a"], "share": ["jobs.*"], "group": "g-1", "claim": "5m", "from": "start",
             "window": 128, "trim": "36h", "requireDurable": false, "insecure": true, "relay": true,
             "password": "secret"}
            """#)
        #expect(settings.redis.app == "other" && !settings.redis.requiresDurability)
        #expect(settings.redis.trim == .seconds(36 * 3600) && settings.redis.password != nil)
        #expect(settings.window == 128 && settings.from == .start && settings.relay)
        #expect(!settings.topics.contains("a") && settings.receive.contains("a"))
        #expect(settings.share.contains("jobs.a") && settings.group?.name == "g-1")
        #expect(settings.group?.claim == .seconds(300) && settings.group?.beginsAtStart == true)
    }

    @Test func allErrorsAtOnce() {
        #expect(
            errors(
                #"""
                {"url": "redis://u:secret@db", "app": "a b", "topics": ["a*b"], "receive": [], "from": "then",
                 "window": 0, "trim": "7w", "requireDurable": "yes", "relay": 1, "passwordFile": "none",
                 "password": "", "share": ["*x"], "group": "a b", "claim": "1"}
                """#) == [
                    "'url' must not have a password, since URLs are shown: use 'passwordFile' or 'password'",
                    "'passwordFile': there is no file '/srv/shop/none'",
                    "'password' is empty: it must have a password",
                    "'password' and 'passwordFile' are two passwords: remove one",
                    "'topics' must be an array of topics: exact ones, prefixes such as \"shared.*\", or \"*\"",
                    "'from' must be 'now' or 'start', not 'then'",
                    "'window' must be a whole number from 1 to 256",
                    "'relay' must be true or false",
                    "'trim' must be a whole number and a unit, such as '7d', '12h', '30m' or '90s', not '7w'",
                    "'requireDurable' must be true or false",
                    "'share' must be an array of topics: exact ones, prefixes such as \"shared.*\", or \"*\"",
                    "'claim' must be a whole number and a unit, such as '7d', '12h', '30m' or '90s', not '1'",
                    "'group' must have 1 to 64 letters, digits, '.', '_' or '-', not 'a b'",
                    "'app' must have 1 to 64 letters, digits, '.', '_' or '-', since the keys in Redis begin with it, not 'a b'",
                ])
        #expect(
            errors(#"{"url": "unix:/r", "topics": [], "share": ["a"], "window": 129}"#) == [
                "'window' must be at most 128 with 'share': the host has no more durable events at a time that modules have yet to answer"
            ])
        #expect(
            errors("{}") == [
                "'url' is missing: where is Redis? Such as 'unix:/run/redis/redis.sock'",
                "'topics' is missing: which messages go out? Such as [\"shared.*\"], or [] for none",
            ])
        #expect(
            errors(#"{"url": "redis://db", "topics": [], "password": "secret"}"#) == [
                "a password would be sent unencrypted to Redis at 'db:6379': use a tunnel and the URL of its end on this machine (README.md, TLS), or set \"insecure\": true if the network is trusted"
            ])
        #expect(
            errors(#"{"urls": 1, "url": {}, "b\u001b": 2}"#) == [
                "'b\\u{1b}' is not a key of a bridge: those are url, app, topics, receive, share, group, claim, from, window, trim, requireDurable, insecure, relay, passwordFile, password",
                "'url' is not a text, a whole number, true, false, or an array of texts",
                "'urls' is not a key of a bridge: those are url, app, topics, receive, share, group, claim, from, window, trim, requireDurable, insecure, relay, passwordFile, password",
            ])
    }
}
