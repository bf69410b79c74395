import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("BrowserModule", .timeLimit(.minutes(10)))
struct BrowserModuleTests {
    private let id = "com.mm.browser"

    private func slatefile(config: String = "{}", isFallback: Bool = true) -> String {
        ModulesTests.slatefile(
            id, "Modules.BrowserModule", config: config,
            rest: #", "schemes": ["slate"]"# + (isFallback ? #", "fallback": "\#(id)""# : ""))
    }

    private func history(_ app: TestHost) async throws -> [String] {
        try await app.module(BrowserModule.self) { $0.history.visits(newest: .max).map(\.url) }
    }

    // MARK: Showing

    @Test(
        "it shows pages of the web, and what nothing else answers",
        arguments: [
            ("https://www.example.com/a?b=c#d", true), ("HTTPS://www.example.com", true),
            ("http://www.example.com", false), ("mailto:mia@example.com", false),
            ("slate:/com.mm.other/x", true), ("slate://anything/else", true),
            ("slate://com.mm.browser", true), ("slate://com.mm.browser/x/y", true),
            ("slate:", true),
        ])
    func shows(url: String, evenIfNoFallback: Bool) async throws {
        let reply = #"{"shown":"\#(url)"}"#
        try await TestHost.run(slatefile: slatefile()) { app in
            #expect(await app.answer(url) == reply)
            let visits = try await history(app)
            #expect(visits == [url])
        }
        try await TestHost.run(slatefile: slatefile(isFallback: false)) { app in
            // Its `*` takes short forms even so.
            let found = await app.answer(url)
            #expect(evenIfNoFallback ? found == reply : found.hasPrefix("no route for '\(url)'"))
        }
    }

    @Test("neither log nor history shows a token, and the log not even the URL")
    func secrets() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            let reply = await app.answer("https://s3cret.example/s3cret?a=s3cret&tok%65n=t0ken")
            #expect(reply == #"{"shown":"https://s3cret.example/s3cret?a=s3cret"}"#)
            #expect(app.messages(of: id) == ["shows a page; history: 1"])
            #expect(!(await app.answer("slate://\(id)/history", from: .host)).contains("t0ken"))
            #expect(!app.log.messages.contains { $0.contains("s3cret") || $0.contains("t0ken") })
        }
    }

    @Test(
        "a URL that cannot be shown is not in the history",
        arguments: [
            ("https://a b", "malformed URL: byte 9 is a space; write it as %20"),
            (
                "https://user:s3cret@example.com",
                "malformed URL: byte 19 is an '@': a name or password before the host is "
                    + "not allowed"
            ),
        ])
    func malformed(url: String, reply: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            #expect(await app.answer(url) == reply)
            let visits = try await history(app)
            #expect(visits == [])
        }
    }

    // MARK: History

    @Test("the history is newest first; asking again for the newest changes nothing")
    func order() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            for page in ["a", "b", "b", "a", "a", "c"] { _ = await app.answer("https://\(page)") }
            #expect(try await history(app) == ["https://c", "https://a", "https://b", "https://a"])
            try await app.deliver(.memoryWarning)
            try await app.deliver(.background)
            #expect(try await history(app).count == 4)
        }
    }

    @Test(
        "the reply says what was shown and when",
        arguments: [
            ("history", 3), ("history?count=2", 2), ("history?count=0", 0),
            ("history?count=18446744073709551615", 3),
        ])
    func reply(call: String, count: Int) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            for page in ["a", "b", "c"] { _ = await app.answer("https://\(page)") }
            let reply = try JSONValue(
                parsing: await app.answer("slate://\(id)/\(call)", from: .host))
            let expected = ["https://c", "https://b", "https://a"].prefix(count)
            #expect(reply.elements.map { $0["url"]?.string } == Array(expected))
            for visit in reply.elements {
                #expect(visit.members.map(\.key) == ["url", "time"])
                #expect(DateTime(visit["time"]?.string ?? "") != nil)
            }
        }
    }

    @Test(
        "parameters that make no sense are errors",
        arguments: [
            ("-1", "parameter 'count': -1 does not fit UInt"),
            ("all", "parameter 'count': expected a whole number, found 'all'"),
        ])
    func oddCount(count: String, reply: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            #expect(await app.answer("slate://history?count=\(count)", from: .host) == reply)
        }
    }

    @Test("who may not look into the history gets what one gets for any other page")
    func privacy() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            _ = await app.answer("https://s3cret")
            for call in ["history", "history?count=1", "histories"] {
                let url = "slate://\(id)/\(call)"
                #expect(await app.answer(url) == #"{"shown":"\#(url)"}"#)
            }
        }
    }

    @Test("who has a token looks into the history, and the token is not in it")
    func token() async throws {
        let token = "0123456789abcdef"
        let tokens = ModulesTests.tokens(token, for: "slate://\(id)/history")
        try await TestHost.run(slatefile: slatefile(), .init(tokens: tokens)) { app in
            #expect(await app.answer("https://a?token=\(token)") == #"{"shown":"https://a"}"#)
            let reply = await app.answer("slate://\(id)/history?token=\(token)")
            #expect(reply.hasPrefix(#"[{"url":"https://a","time":"#) && !reply.contains(token))
        }
    }

    @Test("the history has as many places as the settings say", arguments: [0, 1, 3, 100])
    func limit(limit: Int) async throws {
        let config = limit == 100 ? "{}" : #"{ "history": \#(limit) }"#
        try await TestHost.run(slatefile: slatefile(config: config)) { app in
            for page in 1...102 { _ = await app.answer("https://\(page)") }
            let newest = (1...102).suffix(limit).reversed().map { "https://\($0)" }
            let visits = try await history(app)
            #expect(visits == newest)
        }
    }

    @Test("new settings hold at once, and what is too much is forgotten")
    func reload() async throws {
        try await TestHost.run(slatefile: slatefile(config: #"{ "history": 3 }"#)) { app in
            for page in 1...5 { _ = await app.answer("https://\(page)") }
            try await app.reload(id, config: #"{ "history": 2 }"#)
            #expect(try await history(app) == ["https://5", "https://4"])
            try await app.reload(id, config: #"{ "history": 4 }"#)
            for page in 6...8 { _ = await app.answer("https://\(page)") }
            #expect(try await history(app) == ["https://8", "https://7", "https://6", "https://5"])
            try await app.reload(id, config: #"{ "history": -1 }"#)
            #expect(try await history(app).count == 4)
            try await app.reload(id, config: #"{ "history": 0 }"#)
            _ = await app.answer("https://9")
            let visits = try await history(app)
            #expect(visits == [])
        }
    }

    // MARK: Settings

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (#"{ "history": -1 }"#, "/history: a history has 0 to 10000 URLs; this is -1"),
            (#"{ "history": 10001 }"#, "/history: a history has 0 to 10000 URLs; this is 10001"),
            (#"{ "history": "9" }"#, #"/history: expected a whole number, found the string "9""#),
            (#"{ "histroy": 9 }"#, "/histroy: unknown key 'histroy'; did you mean 'history'?"),
        ])
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }
}
