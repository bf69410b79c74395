import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("CommunityModule", .timeLimit(.minutes(10)))
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

    // MARK: Messages

    @Test("others are notified of each sign-in and sign-out, once each")
    func signIn() async throws {
        let listener = #", { "id": "com.mm.listener", "entry": "ModulesTests.SignInListener" }"#
        try await TestHost.run(slatefile: slatefile(others: listener)) { app in
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "tom" }"#))
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.signed-out"))
            try await app.deliver(.message, say("user.unknown"))
            try await app.deliver(.message, say("weather.changed"))
            #expect(
                try await app.module(SignInListener.self) { $0.received }
                    == ["in mia", "in tom", "out"])
        }
    }

    @Test(
        "a message that makes no sense is an error that does not show what is in it",
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
                "cannot post: no user is signed in"
            ),
        ] as [(String, String?, String)])
    func oddMessages(topic: String, payload: String?, error: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.deliver(.message, say(topic, payload))
            #expect(app.messages(of: id) == ["failed: \(error)"])
        }
    }

    // MARK: State

    @Test("what users did is there in the next run, and a copy of it")
    func nextRun() async throws {
        let folder = try TemporaryFolder()
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
            try await app.deliver(.message, say("user.posted", #"{ "text": "one \"two\"\n" }"#))
        }
        let saved = try folder.text(of: "\(id).json")
        #expect(
            saved == #"{"user":"mia","posts":[{"author":"mia","text":"one \"two\"\n"}]}"# + "\n")
        #expect(try folder.mode(of: "\(id).json") == 0o600)
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            #expect(
                try await app.startupTask("\(id)/backup") == "start-up task \(id)/backup succeeded")
            try await app.deliver(.message, say("user.posted", #"{ "text": "three" }"#))
            #expect(
                await app.answer("slate://user/mia/posts").contains(
                    #""posts":["three","one \"two\"\n"]"#))
            #expect(try app.folder.text(of: "\(id).json.bak") == saved)
            #expect(try folder.mode(of: "\(id).json.bak") == 0o600)
        }
    }

    @Test("a lazy one answers its first call with what was saved, and loses nothing of that call")
    func lazy() async throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"user":"mia","posts":[]}"#, to: "\(id).json")
        let slatefile = """
            { "slate": 1, "app": "demo", "schemes": ["slate"], "modules": [
              { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
              { "id": "\(id)", "entry": "Modules.CommunityModule", "launch": "lazy",
                "config": { "domain": "https://example.com" } }
            ] }
            """
        try await TestHost.run(slatefile: slatefile, .init(folder: folder)) { app in
            try await app.deliver(.message, say("user.posted", #"{ "text": "one" }"#))
            #expect(
                try await app.startupTask("\(id)/state") == "start-up task \(id)/state succeeded")
            #expect(await app.answer("slate://user/mia/posts").contains(#""posts":["one"]"#))
        }
    }

    @Test("it is saved in the background, and at the end what changed there")
    func background() async throws {
        let folder = try TemporaryFolder()
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
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
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
            try await app.startupTask("\(id)/backup")
            try await app.deliver(.background)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("a state that cannot be read is an error, and is not written over")
    func brokenState() async throws {
        let folder = try TemporaryFolder()
        for text in ["", #"{"posts":["#, #"{"posts":[],"s3cret":1}"#, #"{"user":"s3cret"}"#] {
            try folder.write(text, to: "\(id).json")
            try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
                let path = folder.path("\(id).json")
                #expect(
                    try await app.startupTask("\(id)/state")
                        == "start-up task \(id)/state failed: '\(path)' is not what this module "
                        + "saved; put '\(path).bak' in its place, or remove it")
                let backup = try await app.startupTask("\(id)/backup")
                #expect(backup.contains("skipped: it runs after '\(id)/state'"))
                try await app.deliver(.message, say("user.signed-in", #"{ "name": "mia" }"#))
                #expect(
                    app.messages(of: id).last
                        == "failed: '\(path)' could not be read, so nothing is changed")
                for call in ["userInfo", "user/mia/posts"] {
                    #expect(
                        await app.answer("slate://\(call)")
                            == "\(id): '\(path)' could not be read, so nothing is "
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
        try await TestHost.run(slatefile: slatefile(), .init(folder: folder)) { app in
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
        try await TestHost.run(slatefile: slatefile(config: config)) { app in
            let reply = await app.answer("slate://user/a/posts")
            #expect(reply.hasSuffix(#","url":"\#(address)?page=1"}"#))
        }
    }

    @Test("without a domain the module fails, and the app runs")
    func noDomain() async throws {
        try await TestHost.run(slatefile: slatefile(rest: "")) { app in
            #expect(
                app.messages(of: id) == [
                    "init failed; the app continues without it: no \"domain\": give one in this "
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
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }
}

/// A module that cares who is signed in.
final class SignInListener: Module, SignInResponder {
    var received: [String] = []

    init(context: ModuleContext) {}

    func didSignIn(name: String) { received.append("in \(name)") }

    func didSignOut() { received.append("out") }
}
