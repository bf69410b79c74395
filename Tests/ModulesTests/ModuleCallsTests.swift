import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

/// Modules that call the community: by façade, by URL, by its service.
@Suite("Calls between modules", .timeLimit(.minutes(10)))
struct ModuleCallsTests {
    private let slatefile = ModulesTests.slatefile(
        "com.mm.community", "Modules.CommunityModule",
        config: #"{ "domain": "https://www.example.com" }"#, rest: #", "schemes": ["slate"]"#,
        others: """
            , { "id": "com.mm.login", "entry": "ModulesTests.LoginModule" }
            , { "id": "com.mm.digest", "entry": "ModulesTests.DigestModule" }
            """)

    @Test("a façade's calls reach the community, and bring its values and errors back")
    func facade() async throws {
        try await TestHost.run(slatefile: slatefile) { app in
            for (call, reply) in [
                ("login/mia", "null"), ("posts/mia/1", #"["hello"]"#), ("posts/mia/2", "[]"),
                ("posts/tom/1", "[]"),
                ("posts/mia/0", "com.mm.login: no action 'posts' of 'com.mm.community'"),
                ("login/", "no route for 'slate://login/'"),
            ] {
                if call == "posts/mia/1" {
                    #expect(await app.answer("slate://post?text=hello", from: .host) == "null")
                }
                let found = await app.answer("slate://\(call)", from: .host)
                #expect(found.hasPrefix(reply), "\(call): \(found)")
            }
            #expect(await app.answer("slate://userInfo").hasPrefix(#"{"user":"mia","posts":1,"#))
        }
    }

    @Test(
        "the module of docs/modules.md uses service, façade, URL, topic, and the router off the lane"
    )
    func digest() async throws {
        try await TestHost.run(slatefile: slatefile) { app in
            #expect(
                try await app.startupTask("com.mm.digest/color")
                    == "start-up task com.mm.digest/color succeeded")
            #expect(try await app.module(DigestModule.self) { $0.color } == .red)
            #expect(await app.answer("slate://login/m%2Fa", from: .host) == "null")
            #expect(await app.answer("slate://post?text=hello", from: .host) == "null")
            try await app.deliver(.message, #"{ "topic": "digest.wanted" }"#)
            let record = await app.log.first { $0.message.hasPrefix("digest: ") }
            #expect(record.message == #"digest: {"user":"m/a","posts":1,"newest":"hello"}"#)
        }
    }

    @Test("the answers of docs/modules.md come later, from a handler or by its reply")
    func later() async throws {
        let slatefile = ModulesTests.slatefile(
            "com.mm.order", "ModulesTests.OrderModule", config: "{}",
            rest: #", "schemes": ["slate"]"#)
        try await TestHost.run(slatefile: slatefile) { app in
            for _ in 0..<2 { #expect(await app.answer("slate://price/7") == "21") }
            #expect(await app.answer("slate://price/0") == "com.mm.order: there is no such order")
            async let approval = app.answer("slate://approval/7")
            // Its request may come first: then there is nothing to approve.
            while try await app.module(OrderModule.self, { $0.isWaiting(for: 7) }) == false {
                await Task.yield()
            }
            #expect(await app.answer("slate://approve/7") == "true")
            #expect(await approval == #""approved""#)
        }
    }

    @Test(
        "the hooks, the added route, the completion and the topics of docs/modules.md do what it says"
    )
    func concierge() async throws {
        let concierge = #", { "id": "com.mm.concierge", "entry": "ModulesTests.ConciergeModule" }"#
        let slatefile = ModulesTests.slatefile(
            "com.mm.community", "Modules.CommunityModule",
            config: #"{ "domain": "https://www.example.com" }"#, rest: #", "schemes": ["slate"]"#,
            others: concierge + #", { "id": "com.mm.login", "entry": "ModulesTests.LoginModule" }"#
                + #", { "id": "com.mm.browser", "entry": "Modules.BrowserModule" }"#)
        try await TestHost.run(slatefile: slatefile) { app in
            #expect(await app.answer("slate://desk/mia") == #""mia is at the desk""#)
            #expect(await app.answer("http://a.example/b") == #"{"shown":"https://a.example/b"}"#)
            #expect(
                await app.answer("slate://login/mia", from: .host)
                    == "com.mm.login: refused by com.mm.concierge: signing in is disabled today")
            let answer = await app.answer("slate://com.mm.login/nothing")
            #expect(answer.hasPrefix("no route for 'slate://com.mm.login/nothing'"))
            try await app.deliver(
                .message, #"{ "topic": "user.signed-in", "payload": { "name": "mia" } }"#)
            try await app.deliver(.memoryWarning)
            _ = await app.log.first { $0.message == "the user signed out" }
            #expect(
                app.messages(of: "com.mm.concierge") == [
                    "no route answers a call of control from pid 42 (uid 1000)",
                    "mia signed in, says host",
                ])
        }
    }
}

/// A module that knows the community's façade, and receives what is posted.
final class LoginModule: RoutedModule, MessageResponder {
    struct Login: Decodable, Sendable {
        var name: String
        var page: Int?
    }

    let topics = ["digest.ready"]
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    static var routes: [Route<LoginModule>] {
        [
            Route("login/:name") { (module, request: Login, call) in
                try module.context.mediator.signIn(request.name)
            },
            Route("posts/:name/:page") { (module, request: Login, call) in
                try module.context.mediator.posts(of: request.name, page: request.page ?? 1).posts
            },
        ]
    }

    func receive(_ message: Message) {
        context.log.info("digest: \(message.payload?.text ?? "nothing")")
    }
}
