import TestSupport
import Testing

@testable import ModuleHostCore

/// What the modules of the composed app share: a service by its protocol, and a typed message.
protocol Accounts: Sendable {
    var current: String { get }
}

/// Who wants to know who is signed in.
protocol SignInResponder: AnyObject {
    func didSignIn(name: String)
}

/// Has the accounts: provides the service, answers by URL, and posts each sign-in.
final class AccountBundle: RoutedModule {
    struct Known: Accounts { let current: String }
    struct Credentials: Decodable { var name: String }

    static var routes: [Route<AccountBundle>] {
        [
            Route("account", access: .public) { (module, call) in
                try module.context.services.resolve((any Accounts).self).current
            },
            Route("sign-in/:name") { (module, request: Credentials, call) -> Int in
                try module.context.post("user.signed-in", ["name": request.name])
                return module.context.center.send(to: (any SignInResponder).self) {
                    $0.didSignIn(name: request.name)
                }.delivered
            },
        ]
    }

    private let context: ModuleContext

    init(context: ModuleContext) throws {
        self.context = context
        try context.services.register((any Accounts).self) { Known(current: "mia") }
    }
}

/// A page that greets, and is notified of each sign-in: it knows no other module.
final class GreetingBundle: RoutedModule, MessageResponder, SignInResponder {
    static var routes: [Route<GreetingBundle>] {
        [
            Route("greeting", access: .public) { (module, call) in
                let accounts = try module.context.services.resolve((any Accounts).self)
                return "\(module.context.id): hello \(accounts.current)"
            }
        ]
    }

    private let context: ModuleContext
    var topics: [String] { ["user.*"] }

    init(context: ModuleContext) { self.context = context }

    func didSignIn(name: String) { context.probe?.note("\(context.id) greets \(name)") }

    func receive(_ message: Message) {
        let payload = message.payload?.text ?? ""
        context.probe?.note("\(context.id) receives \(message.topic) \(payload)")
    }
}

/// The page for what the app has no page for.
final class WebBundle: RoutedModule {
    static var routes: [Route<WebBundle>] {
        [
            Route("*", access: .public) { (module, call) in
                "web page of \(call.url?.withoutQuery ?? "")"
            }
        ]
    }

    init(context: ModuleContext) {}
}

/// Row 8 of the seed systems: one app, composed of modules, with one bus for each kind of talk.
@Suite("Row 8: URLs, services and messages on one order", .timeLimit(.minutes(10)))
struct Row08BundleAppTests {
    /// An app composed of these modules, in this order, by its slatefile alone.
    private func app(
        _ names: String..., test: String = #function
    ) async throws -> HostUnderTest {
        let types = ["account": "AccountBundle", "web": "WebBundle"]
        return try await HostUnderTest(
            [.init(name: "a", type: "CallProbe")]
                + names.map { .init(name: $0, type: types[$0] ?? "GreetingBundle") },
            top: #""schemes": ["app"]"#
                + (names.contains("web") ? #", "fallback": "x.web""# : ""),
            probe: Probe(test)
        ).launched()
    }

    @Test("a URL is a call with a value, inside of the app and from outside")
    func url() async throws {
        let host = try await app("account", "hello")
        #expect(await host.open("app://greeting") == #""x.hello: hello mia""#)
        #expect(
            try await host.asFirst { try $0.context.router.value(for: "app://account") } == "mia")
        #expect(await host.stopped() == .stopped)
    }

    @Test("what nothing answers is shown by the web page, not an error")
    func unresolved() async throws {
        let host = try await app("account", "web")
        #expect(await host.open("app://greeting") == #""web page of app://greeting""#)
        #expect(
            await host.open("https://m.example/x?y=z") == #""web page of https://m.example/x""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a service is found by its protocol, whichever module has it, wherever it stands")
    func service() async throws {
        for names in [["account", "hello"], ["hello", "account"]] {
            let host = try await app(names[0], names[1], test: "service \(names)")
            #expect(await host.open("app://greeting") == #""x.hello: hello mia""#)
            #expect(await host.stopped() == .stopped)
        }
    }

    @Test("a message goes from one to many, by topic and by type")
    func message() async throws {
        let host = try await app("account", "one", "two")
        let value = try await host.asFirst {
            "\(try $0.context.router.value(for: "app://sign-in/mia", as: Int.self))"
        }
        await host.settled()
        #expect(value == "2")
        #expect(
            host.probe.entries == [
                "x.one greets mia", "x.two greets mia",
                #"x.one receives user.signed-in {"name":"mia"}"#,
                #"x.two receives user.signed-in {"name":"mia"}"#,
            ])
        #expect(await host.stopped() == .stopped)
    }

    @Test("the order of the slatefile is the order of all three: the other way round, all turn")
    func order() async throws {
        for names in [["one", "two"], ["two", "one"]] {
            let host = try await app("account", names[0], names[1], test: "order \(names)")
            #expect(await host.open("app://greeting") == "\"x.\(names[0]): hello mia\"")
            _ = try await host.asFirst { "\(try $0.context.router.open("app://sign-in/mia"))" }
            await host.settled()
            #expect(
                host.probe.entries("greets") == names.map { "x.\($0) greets mia" })
            #expect(
                host.probe.entries("receives")
                    == names.map { #"x.\#($0) receives user.signed-in {"name":"mia"}"# })
            #expect(await host.stopped() == .stopped)
        }
    }

    @Test("another app is another list of the same modules; what it leaves out is not there")
    func composed() async throws {
        let host = try await app("hello")
        let text = await host.open("app://greeting")
        #expect(
            text == "x.hello: no module provides 'Accounts': is its module in the slatefile, and "
                + "enabled?")
        #expect(await host.open("app://account") == "no route for 'app://account'")
        #expect(await host.stopped() == .stopped)
    }
}
