import ModuleHost
import TestSupport
import Testing

@testable import Modules

@Suite("CommunityModule", .timeLimit(.minutes(1)))
struct CommunityModuleTests {
    private let id = "com.mm.community"

    private func slatefile(
        config: String = "{}", rest: String = #", "config": { "domain": "https://example.com" }"#,
        others: String = ""
    ) -> String {
        ModulesTests.slatefile(
            id, "Modules.CommunityModule", config: config, rest: rest + #", "schemes": ["slate"]"#,
            others: others)
    }

    private func say(_ topic: String, _ payload: String? = nil) -> String {
        #"{ "topic": "\#(topic)"\#(payload.map { #", "payload": \#($0)"# } ?? "") }"#
    }

    private func signIn(_ name: String, _ app: RunningHost) async throws {
        try await app.deliver(.message, say("user.signed-in", #"{ "name": "\#(name)" }"#))
    }

    // MARK: Calls

    @Test(
        "a route answers with what is asked for",
        arguments: [
            (
                "slate://com.mm.community/userInfo?style=1&color=green",
                #"{"user":"mia","posts":1,"style":1,"color":"green","page":"https://example.com/userInfo?color=green&style=1"}"#
            ),
            (
                "slate://userInfo?color=red&style=3#top",
                #"{"user":"mia","posts":1,"style":3,"color":"red","page":"https://example.com/userInfo?color=red&style=3"}"#
            ),
            (
                "SLATE://COM.MM.Community/userInfo",
                #"{"user":"mia","posts":1,"style":1,"color":"green","page":"https://example.com/userInfo?color=green&style=1"}"#
            ),
            (
                "slate:///user/mia/posts/",
                #"{"author":"mia","count":1,"posts":["hello"],"page":"https://example.com/user/mia/posts?page=1"}"#
            ),
            (
                "slate://com.mm.community/user/m%2F%C3%A4/posts?page=7&name=mia",
                #"{"author":"m/ä","count":0,"posts":[],"page":"https://example.com/user/m%2F%C3%A4/posts?page=7"}"#
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
            try await app.deliver(.message, say("user.posted", #"{ "text": "hello" }"#))
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
                try await app.deliver(
                    .message, say("user.posted", #"{ "text": "s3cret-\#(number)" }"#))
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
                ("userInfo", #"{"posts":0,"style":1,"color":"green","page":"#),
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
            try await app.deliver(.message, say("user.posted", #"{ "text": "hello" }"#))
            #expect(try await answers() == "mia is signed in, mia wrote 1")
        }
    }

    // MARK: Messages

    @Test("others are told who signs in and out, once each")
    func signIn() async throws {
        let listener = #", { "id": "com.mm.listener", "entry": "ModulesTests.SignInListener" }"#
        try await RunningHost.run(slatefile(others: listener)) { app in
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "tom" }"#))
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.unheard-of"))
            try await app.deliver(.message, say("weather.changed"))
            #expect(
                await app.module(SignInListener.self) { $0.heard } == ["in mia", "in tom", "out"])
        }
    }

    @Test(
        "a message that makes no sense is an error that does not tell what is in it",
        arguments: [
            (
                "user.signed-in", nil,
                #"message 'user.signed-in' needs a "name" in its payload: a string, not empty"#
            ),
            (
                "user.signed-in", #"{ "name": 5 }"#,
                #"message 'user.signed-in' needs a "name" in its payload: a string, not empty"#
            ),
            (
                "user.signed-in", #"{ "name": "" }"#,
                #"message 'user.signed-in' needs a "name" in its payload: a string, not empty"#
            ),
            (
                "user.posted", #"["s3cret"]"#,
                #"message 'user.posted' needs a "text" in its payload: a string, not empty"#
            ),
            (
                "user.posted", #"{ "text": "s3cret" }"#,
                "nobody can post: no user is signed in"
            ),
        ] as [(String, String?, String)])
    func oddMessages(topic: String, payload: String?, error: String) async throws {
        try await RunningHost.run(slatefile()) { app in
            try await app.deliver(.message, say(topic, payload))
            #expect(app.messages(of: id) == ["failed: \(error)"])
        }
    }

    // MARK: State

    @Test("what users did is there in the next run, and a copy of it")
    func nextRun() async throws {
        let folder = try TemporaryFolder()
        try await RunningHost.run(slatefile(), in: folder) { app in
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.posted", #"{ "text": "one \"two\"\n" }"#))
        }
        let saved = try folder.text(of: "\(id).json")
        #expect(
            saved == #"{"user":"mia","posts":[{"author":"mia","text":"one \"two\"\n"}]}"# + "\n")
        #expect(try folder.mode(of: "\(id).json") == 0o600)
        try await RunningHost.run(slatefile(), in: folder) { app in
            #expect(await app.startupTask("\(id)/backup") == "start-up task \(id)/backup succeeded")
            try await app.deliver(.message, say("user.posted", #"{ "text": "three" }"#))
            #expect(
                await app.open("slate://user/mia/posts").contains(
                    #""posts":["three","one \"two\"\n"]"#))
            #expect(try app.text(of: "\(id).json.bak") == saved)
            #expect(try folder.mode(of: "\(id).json.bak") == 0o600)
        }
    }

    @Test("it is saved in the background, and at the end what changed there")
    func background() async throws {
        let folder = try TemporaryFolder()
        try await RunningHost.run(slatefile(), in: folder) { app in
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.background)
            #expect(try folder.text(of: "\(id).json") == #"{"user":"mia","posts":[]}"# + "\n")
            try await app.deliver(.message, say("user.signed-out"))
        }
        #expect(try folder.text(of: "\(id).json") == #"{"posts":[]}"# + "\n")
    }

    @Test("where nothing changed nothing is written")
    func unchanged() async throws {
        let folder = try TemporaryFolder()
        try await RunningHost.run(slatefile(), in: folder) { app in
            await app.startupTask("\(id)/backup")
            try await app.deliver(.background)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("a state that cannot be read is an error, and is not written over")
    func brokenState() async throws {
        let folder = try TemporaryFolder()
        for text in ["", #"{"posts":["#, #"{"posts":[],"s3cret":1}"#, #"{"user":"s3cret"}"#] {
            try folder.write(text, to: "\(id).json")
            try await RunningHost.run(slatefile(), in: folder) { app in
                let path = folder.path("\(id).json")
                #expect(
                    await app.startupTask("\(id)/state")
                        == "start-up task \(id)/state failed: '\(path)' is not what this module "
                        + "saved; put '\(path).bak' in its place, or remove it")
                let backup = await app.startupTask("\(id)/backup")
                #expect(backup.contains("skipped: it runs after '\(id)/state'"))
                try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
                #expect(
                    app.messages(of: id).last
                        == "failed: '\(path)' could not be read at start-up, so nothing is changed")
                for call in ["userInfo", "user/mia/posts"] {
                    #expect(
                        await app.open("slate://\(call)")
                            == "failed: '\(path)' could not be read at start-up, so nothing is "
                            + "changed")
                }
                #expect(!app.log.messages.contains { $0.contains("s3cret") })
            }
            #expect(try folder.text(of: "\(id).json") == text)
        }
        #expect(folder.names == ["\(id).json"])
    }

    @Test("a state that cannot be saved is an error, and is saved the next time")
    func failedSave() async throws {
        let folder = try TemporaryFolder()
        try await RunningHost.run(slatefile(), in: folder) { app in
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try makeFolders(folder.path("\(id).json"))
            try await app.deliver(.background)
            #expect(
                app.messages(of: id).last
                    == "failed: cannot write '\(folder.path)/\(id).json': Is a directory")
            try folder.move("\(id).json", to: "elsewhere")
        }
        #expect(try folder.text(of: "\(id).json") == #"{"user":"mia","posts":[]}"# + "\n")
    }

    @Test("the newest thousand posts are kept")
    func postLimit() {
        var state = CommunityState()
        for number in 1...CommunityState.postLimit {
            let isOldestGone = state.add(CommunityState.Post(author: "mia", text: "\(number)"))
            #expect(!isOldestGone)
        }
        let isOldestGone = state.add(CommunityState.Post(author: "mia", text: "last"))
        #expect(isOldestGone)
        #expect(state.posts.count == CommunityState.postLimit)
        #expect(state.posts.first?.text == "2" && state.posts.last?.text == "last")
    }

    // MARK: Settings

    @Test(
        "the domain is the module's own, else the app's",
        arguments: [
            (#"{ "domain": "http://own.example:8080/" }"#, "http://own.example:8080/user/a/posts"),
            (#"{ "domain": "https://own.example/de" }"#, "https://own.example/de/user/a/posts"),
            ("{}", "https://example.com/user/a/posts"),
        ])
    func domain(config: String, address: String) async throws {
        try await RunningHost.run(slatefile(config: config)) { app in
            let reply = await app.open("slate://user/a/posts")
            #expect(reply.hasSuffix(#","page":"\#(address)?page=1"}"#))
        }
    }

    @Test("without a domain the module fails, and the app runs")
    func noDomain() async throws {
        try await RunningHost.run(slatefile(rest: "")) { app in
            #expect(
                app.messages(of: id) == [
                    "init failed, the app goes on without it: no \"domain\": give one in this "
                        + "module's config or the app's, such as \"https://www.example.com\""
                ])
        }
    }

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (
                #"{ "domain": "example.com" }"#,
                "/domain: a web site is given as https://www.example.com"
            ),
            (
                #"{ "domain": "https://" }"#,
                "/domain: a web site is given as https://www.example.com"
            ),
            (
                #"{ "domain": "https://user@example.com" }"#,
                "/domain: a web site is given as https://www.example.com"
            ),
            (
                #"{ "domain": "https://example.com?page" }"#,
                "/domain: a web site is given as https://www.example.com"
            ),
            (#"{ "domain": [] }"#, "/domain: expected a string, found an array"),
            (#"{ "domains": "" }"#, "/domains: unknown key 'domains'; did you mean 'domain'?"),
        ])
    func faults(config: String, message: String) {
        let found = ModulesTests.faults(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }
}

/// A module that cares who is signed in.
final class SignInListener: Module, SignInResponder {
    var heard: [String] = []

    init(context: ModuleContext) {}

    func didSignIn(name: String) { heard.append("in \(name)") }

    func didSignOut() { heard.append("out") }
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
