import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("CommunityModule: routes and service", .timeLimit(.minutes(10)))
struct CommunityRoutesTests {
    private let id = "com.mm.community"

    private func slatefile(others: String = "") -> String {
        ModulesTests.slatefile(
            id, "Modules.CommunityModule", config: #"{ "domain": "https://example.com" }"#,
            rest: #", "schemes": ["slate"]"#, others: others)
    }

    private func signIn(_ name: String, _ app: TestHost) async throws {
        #expect(await app.answer("slate://signIn?name=\(name)", from: .host) == "null")
    }

    private func post(_ text: String, _ app: TestHost) async throws {
        #expect(await app.answer("slate://post?text=\(text)", from: .host) == "null")
    }

    // MARK: Routes

    @Test(
        "a route answers with what is asked for",
        arguments: [
            (
                "slate://com.mm.community/userInfo?style=1&color=green",
                #"{"user":"mia","posts":1,"style":1,"color":"green","url":"https://example.com/userInfo?color=green&style=1"}"#
            ),
            (
                "slate://userInfo?color=red&style=3#top",
                #"{"user":"mia","posts":1,"style":3,"color":"red","url":"https://example.com/userInfo?color=red&style=3"}"#
            ),
            (
                "SLATE://COM.MM.Community/userInfo",
                #"{"user":"mia","posts":1,"style":1,"color":"green","url":"https://example.com/userInfo?color=green&style=1"}"#
            ),
            (
                "slate:///user/mia/posts/",
                #"{"author":"mia","count":1,"posts":["hello"],"url":"https://example.com/user/mia/posts?page=1"}"#
            ),
            (
                "slate://com.mm.community/user/m%2F%C3%A4/posts?page=7&name=mia",
                #"{"author":"m/ä","count":0,"posts":[],"url":"https://example.com/user/m%2F%C3%A4/posts?page=7"}"#
            ),
            (
                "slate://userInfo?style=red",
                "parameter 'style': expected a whole number, found 'red'"
            ),
            (
                "slate://userInfo?color=mauve",
                "parameter 'color': expected one of 'red', 'orange', 'yellow', 'green', "
                    + "'blue', 'violet', found 'mauve'"
            ),
            (
                "slate://userInfo?style=1&style=2",
                "parameter 'style' is given 2 times; it takes one value"
            ),
            (
                "slate://user/mia/posts?page=two",
                "parameter 'page': expected a whole number, found 'two'"
            ),
            ("slate://user/mia/posts?page=0", "no route for "),
            ("slate://user/mia/posts?page=-9223372036854775808", "no route for "),
            ("slate://user/mia", "no route for "), ("slate://user//posts", "no route for "),
            ("slate://com.mm.community", "no route for "), ("slate://USERINFO/", "answered"),
            ("https://userInfo", "no route for "),
        ])
    func routes(url: String, reply: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await signIn("mia", app)
            try await post("hello", app)
            let found = await app.answer(url)
            // An authority compares without case.
            #expect(found.hasPrefix(reply == "answered" ? #"{"user":"mia""# : reply), "\(found)")
        }
    }

    @Test("twenty posts are on a page, the newest first, also after a memory warning")
    func pages() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.startupTask("\(id)/index")
            try await signIn("mia", app)
            for number in 1...41 {
                try await post("s3cret-\(number)", app)
            }
            func texts(_ numbers: some Sequence<Int>) -> String {
                "[" + numbers.map { "\"s3cret-\($0)\"" }.joined(separator: ",") + "]"
            }
            for _ in 1...2 {
                for (page, expected) in [
                    ("", texts((22...41).reversed())), ("?page=2", texts((2...21).reversed())),
                    ("?page=3", texts(1...1)), ("?page=4", "[]"),
                    ("?page=9223372036854775807", "[]"),
                ] {
                    let reply = await app.answer("slate://user/mia/posts\(page)")
                    #expect(reply.hasPrefix(#"{"author":"mia","count":41,"posts":\#(expected),"#))
                }
                try await app.deliver(.memoryWarning)
            }
            #expect(!app.log.messages.contains { $0.contains("s3cret") || $0.contains("mia") })
        }
    }

    @Test("each route says who may reach it")
    func access() throws {
        #expect(
            try CommunityModule.erasedRoutes().map { "\($0.pattern) \($0.action) \($0.access)" }
                == [
                    "userInfo userInfo public", "user/:name/posts posts public",
                    "post post authorized", "signIn signIn local", "signOut signOut local",
                    "signedInUser signedInUser local", "postCount postCount local",
                ])
    }

    @Test(
        "for a caller from outside, what is not public does not exist",
        arguments: ["post?text=hello", "signIn?name=tom", "signIn", "signOut", "nothing"])
    func outside(call: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await signIn("mia", app)
            let url = "slate://com.mm.community/\(call)"
            let reply = await app.answer(url)
            #expect(reply.hasPrefix("no route for '\(url.prefix { $0 != "?" })"))
            #expect(await app.answer("slate://userInfo").hasPrefix(#"{"user":"mia","posts":0,"#))
        }
    }

    @Test("who is outside posts for the user with a token, and does no more with it")
    func token() async throws {
        let token = "0123456789abcdef"
        let tokens = ModulesTests.tokens(token, for: "slate://com.mm.community/*")
        try await TestHost.run(slatefile: slatefile(), .init(tokens: tokens)) { app in
            try await signIn("mia", app)
            for call in ["post?text=hello", "post?text=hello&token=another-0123456789"] {
                #expect(
                    await app.answer("slate://\(call)").hasPrefix("no route for 'slate://post'"))
            }
            #expect(await app.answer("slate://post?text=hello&token=\(token)") == "null")
            #expect(
                await app.answer("slate://signOut?token=\(token)")
                    .hasPrefix("no route for 'slate://signOut'"))
            #expect(await app.answer("slate://userInfo").hasPrefix(#"{"user":"mia","posts":1,"#))
            #expect(!app.log.messages.contains { $0.contains(token) })
        }
    }

    @Test("modules sign users in and out and post, and receive an error for what is wrong")
    func calls() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            for (call, reply) in [
                ("userInfo", #"{"posts":0,"style":1,"color":"green","url":"#),
                ("post?text=early", "com.mm.community: cannot post: no user is signed in"),
                ("signIn", "parameter 'name' is missing: expected text"),
                ("signIn?name=", "com.mm.community: 'name' cannot be empty"),
                ("signIn?name=mia", "null"),
                ("signIn?name=mia", "null"), ("post", "parameter 'text' is missing"),
                ("post?text=", "com.mm.community: 'text' cannot be empty"),
                ("post?text=s3cret", "null"),
                ("user/mia/posts", #"{"author":"mia","count":1,"posts":["s3cret"],"#),
                ("userInfo", #"{"user":"mia","posts":1,"#), ("signOut", "null"),
                ("signOut", "null"), ("userInfo", #"{"posts":0,"#),
            ] {
                let found = await app.answer("slate://\(call)", from: .host)
                #expect(found.hasPrefix(reply), "\(call): \(found)")
            }
            #expect(app.messages(of: id) == ["a user signed in", "the user signed out"])
        }
    }

    // MARK: The service

    @Test("others ask the service who is signed in, and who wrote how much")
    func service() async throws {
        let client = #", { "id": "com.mm.client", "entry": "ModulesTests.DirectoryClient" }"#
        try await TestHost.run(slatefile: slatefile(others: client)) { app in
            func answers() async -> String { await app.answer("slate://directory", from: .host) }
            #expect(await answers() == #""no user is signed in, mia wrote 0""#)
            try await signIn("mia", app)
            try await post("hello", app)
            #expect(await answers() == #""mia is signed in, mia wrote 1""#)
        }
    }
}

/// A module that uses the community's service.
final class DirectoryClient: RoutedModule {
    private let context: ModuleContext

    static var routes: [Route<DirectoryClient>] {
        [
            Route("directory") { (module, call) async throws -> String in
                let directory = try module.context.services.resolve((any UserDirectory).self)
                let user = try await directory.signedInUser()
                let count = try await directory.postCount(of: "mia")
                return "\(user ?? "no user") is signed in, mia wrote \(count)"
            }
        ]
    }

    init(context: ModuleContext) { self.context = context }
}
