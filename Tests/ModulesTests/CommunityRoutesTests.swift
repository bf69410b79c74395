import ModuleHost
import TestSupport
import Testing

@testable import Modules

@Suite("CommunityModule: routes and service", .timeLimit(.minutes(1)))
struct CommunityRoutesTests {
    private let id = "com.mm.community"

    private func slatefile(others: String = "") -> String {
        ModulesTests.slatefile(
            id, "Modules.CommunityModule", config: #"{ "domain": "https://example.com" }"#,
            rest: #", "schemes": ["slate"]"#, others: others)
    }

    private func signIn(_ name: String, _ app: RunningHost) async throws {
        #expect(await app.open("slate://signIn?name=\(name)", as: .local) == "null")
    }

    private func post(_ text: String, _ app: RunningHost) async throws {
        #expect(await app.open("slate://post?text=\(text)", as: .local) == "null")
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
                "failed: parameter 'style': expected a whole number, found 'red'"
            ),
            (
                "slate://userInfo?color=mauve",
                "failed: parameter 'color': expected one of 'red', 'orange', 'yellow', 'green', "
                    + "'blue', 'violet', found 'mauve'"
            ),
            (
                "slate://userInfo?style=1&style=2",
                "failed: parameter 'style' is given 2 times; it takes one value"
            ),
            (
                "slate://user/mia/posts?page=two",
                "failed: parameter 'page': expected a whole number, found 'two'"
            ),
            ("slate://user/mia/posts?page=0", "not found"),
            ("slate://user/mia/posts?page=-9223372036854775808", "not found"),
            ("slate://user/mia", "not found"), ("slate://user//posts", "not found"),
            ("slate://com.mm.community", "not found"), ("slate://USERINFO/", "answered"),
            ("https://userInfo", "not found"),
        ])
    func routes(url: String, reply: String) async throws {
        try await RunningHost.run(slatefile()) { app in
            try await signIn("mia", app)
            try await post("hello", app)
            let found = await app.open(url)
            // An authority compares without case.
            #expect(found.hasPrefix(reply == "answered" ? #"{"user":"mia""# : reply), "\(found)")
        }
    }

    @Test("twenty posts are on a page, the newest first, also after a memory warning")
    func pages() async throws {
        try await RunningHost.run(slatefile()) { app in
            await app.startupTask("\(id)/index")
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
                    let reply = await app.open("slate://user/mia/posts\(page)")
                    #expect(reply.hasPrefix(#"{"author":"mia","count":41,"posts":\#(expected),"#))
                }
                try await app.deliver(.memoryWarning)
            }
            #expect(!app.log.messages.contains { $0.contains("s3cret") || $0.contains("mia") })
        }
    }

    @Test(
        "who may not reach a route is told that there is none",
        arguments: [
            ("post?text=hello", RouteAccess.authorized), ("signIn?name=tom", .local),
            ("signOut", .local),
        ])
    func access(call: String, least: RouteAccess) async throws {
        try await RunningHost.run(slatefile()) { app in
            try await signIn("mia", app)
            for access in RouteAccess.allCases.reversed() {
                let reply = await app.open("slate://com.mm.community/\(call)", as: access)
                let mayReach = access == .local || access == least
                #expect((reply != "not found") == mayReach)
            }
        }
    }

    @Test("modules sign users in and out and post, and are told what is wrong")
    func calls() async throws {
        try await RunningHost.run(slatefile()) { app in
            for (call, reply) in [
                ("userInfo", #"{"posts":0,"style":1,"color":"green","url":"#),
                ("post?text=early", "failed: nobody can post: no user is signed in"),
                ("signIn", "failed: parameter 'name' is missing: expected text"),
                ("signIn?name=", "failed: 'name' cannot be empty"), ("signIn?name=mia", "null"),
                ("signIn?name=mia", "null"), ("post", "failed: parameter 'text' is missing"),
                ("post?text=", "failed: 'text' cannot be empty"), ("post?text=s3cret", "null"),
                ("user/mia/posts", #"{"author":"mia","count":1,"posts":["s3cret"],"#),
                ("userInfo", #"{"user":"mia","posts":1,"#), ("signOut", "null"),
                ("signOut", "null"), ("userInfo", #"{"posts":0,"#),
            ] {
                let found = await app.open("slate://\(call)", as: .local)
                #expect(found.hasPrefix(reply), "\(call): \(found)")
            }
            #expect(app.messages(of: id) == ["a user signed in", "the user signed out"])
        }
    }

    // MARK: The service

    @Test("others ask the service who is signed in, and who wrote how much")
    func service() async throws {
        let client = #", { "id": "com.mm.client", "entry": "ModulesTests.DirectoryClient" }"#
        try await RunningHost.run(slatefile(others: client)) { app in
            func answers() async throws -> String? {
                try await app.deliver(.memoryWarning)
                return app.messages(of: "com.mm.client").last
            }
            #expect(try await answers() == "nobody is signed in, mia wrote 0")
            try await signIn("mia", app)
            try await post("hello", app)
            #expect(try await answers() == "mia is signed in, mia wrote 1")
        }
    }
}

/// A module that uses the community's service, at every memory warning.
final class DirectoryClient: MemoryWarningResponder {
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func didReceiveMemoryWarning() throws {
        let (user, count) = try context.services.call((any UserDirectory).self) {
            (try $0.signedInUser, try $0.postCount(of: "mia"))
        }
        context.log.info("\(user ?? "nobody") is signed in, mia wrote \(count)")
    }
}
