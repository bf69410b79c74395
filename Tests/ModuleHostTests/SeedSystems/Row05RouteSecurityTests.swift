import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// A bank with something for all callers, something for callers that have a token, and something for the
/// app alone.
final class BankModule: RoutedModule {
    struct Statement: Decodable { var year: Int }
    struct Transfer: Decodable { var amount: Int? }

    static var routes: [Route<BankModule>] {
        [
            Route("hours", access: .public) { (module, call) in "9 to 5" },
            Route("statement/:year", action: "statement", access: .authorized) {
                (module, request: Statement, call) in "statement of \(request.year)"
            },
            Route("close", access: .authorized) { (module, call) in "closed" },
            Route("transfer") { (module, request: Transfer, call) in
                "transferred \(request.amount ?? 0)"
            },
            Route("origin", access: .public) { (module, call) in "\(call.origin)" },
            Route("seen/*rest", action: "seen", access: .public) { (module, call) in
                "\(call.url?.text ?? "no URL") \(call.userInfo.count)"
            },
        ]
    }

    init(context: ModuleContext) {}
}

/// The same bank without what strangers may not reach: what its answers are compared with.
final class OpenBankModule: RoutedModule {
    static var routes: [Route<OpenBankModule>] {
        [
            Route("hours", access: .public) { (module, call) in "9 to 5" },
            Route("origin", access: .public) { (module, call) in "\(call.origin)" },
            Route("seen/*rest", action: "seen", access: .public) { (module, call) in "seen" },
        ]
    }

    init(context: ModuleContext) {}
}

/// Sees everything that passes, and writes it down.
final class WatchModule: Module, CallInterceptor, NotFoundResponder, URLResponder {
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func intercept(_ call: InterceptedCall) -> Interception {
        context.probe?.note("sees \(call)")
        context.log.info("sees \(call)")
        return .proceed
    }

    func didNotFind(_ call: InterceptedCall, error: RouteError) {
        context.probe?.note("misses \(call) \(error)")
    }

    func open(_ url: String, options: OpenURLOptions) -> Bool {
        context.probe?.note("asked \(url) \(context.event?.payload?.text ?? "")")
        return false
    }
}

/// Row 5 of the seed systems: calls inside of the app are free, calls from outside carry a token.
@Suite("Row 5: who may call", .timeLimit(.minutes(10)))
struct Row05RouteSecurityTests {
    private static let token = "statements-0123456789"
    private static let expired = "expired-0123456789"

    private static func tokens() throws -> TokenStore {
        let text = """
            [{"token": "\(token)", "name": "phone", "expires": "2999-01-01T00:00:00Z",
              "scopes": ["app://x.bank/statement/*", "app://x.bank/transfer"]},
             {"token": "\(expired)", "name": "old", "expires": "2001-01-01T00:00:00Z",
              "scopes": ["app://x.bank/*"]}]
            """
        return try TokenStore.read(Array(text.utf8), path: "tokens.json", schemes: ["app"])
    }

    private func app(
        bank: String = "BankModule", with more: [HostUnderTest.Entry] = [],
        test: String = #function
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "bank", type: bank)] + more,
            top: #""schemes": ["app"]"#, tokens: Self.tokens(), probe: Probe(test)
        ).launched()
    }

    static let remotes: [Origin] = [
        .control(uid: 0, pid: 1), .push, .inbox,
        .signal(name: "USR1", uid: 0, pid: 1, value: nil),
    ]

    // MARK: Inside and outside

    @Test("inside of the app every route can be called, without a token")
    func inside() async throws {
        let host = try await app()
        let text = try await host.asFirst { module in
            let (router, mediator) = (module.context.router, module.context.mediator)
            return [
                try router.value(for: "app://x.bank/hours"),
                try router.value(for: "app://x.bank/statement/2026"),
                try router.value(for: "app://x.bank/transfer?amount=7"),
                try mediator.perform("x.bank", "close", as: String.self),
            ].joined(separator: ", ")
        }
        #expect(text == "9 to 5, statement of 2026, transferred 7, closed")
        #expect(await host.stopped() == .stopped)
    }

    @Test("from outside what is public can be called, whichever way it comes", arguments: remotes)
    func outside(origin: Origin) async throws {
        let host = try await app(test: "outside \(origin)")
        #expect(await host.open("app://x.bank/hours", from: origin) == #""9 to 5""#)
        #expect(await host.open("app://x.bank/origin", from: origin) == "\"\(origin)\"")
        for url in ["statement/2026", "close", "transfer"].map({ "app://x.bank/\($0)" }) {
            let text = await host.open(url, from: origin)
            #expect(text.hasPrefix("no route for '\(url)'"), "\(text)")
        }
        #expect(await host.stopped() == .stopped)
    }

    @Test("a URL from outside that a module opens is no call of the module's", arguments: remotes)
    func lent(origin: Origin) async throws {
        let host = try await app(test: "lent \(origin)")
        let text = try await host.asFirst { module in
            let router = module.context.router
            let seen = try router.open(
                "app://x.bank/seen/x", userInfo: ["key": "of the app"], from: origin)
            #expect(throws: RouteError.self) {
                try router.open("app://x.bank/transfer", from: origin)
            }
            #expect(!router.canOpen("app://x.bank/statement/2026", from: origin))
            let url = "app://x.bank/statement/2026?token=\(Self.token)"
            #expect(router.canOpen(url, from: origin))
            return "\(seen), \(try router.open(url, from: origin))"
        }
        #expect(text == "app://x.bank/seen/x 0, statement of 2026")
        #expect(await host.stopped() == .stopped)
    }

    // MARK: Tokens

    @Test("a token travels in the URL, or beside it, and then counts first")
    func travels() async throws {
        let host = try await app()
        let statement = #""statement of 2026""#
        let url = "app://x.bank/statement/2026"
        let token = RouteToken(Self.token)
        #expect(await host.open("\(url)?token=\(Self.token)") == statement)
        #expect(await host.open("\(url)?n=1&%74oken=\(Self.token)&m=2") == statement)
        #expect(await host.open(url, token: token) == statement)
        #expect(await host.open("\(url)?token=another-0123456789", token: token) == statement)
        #expect(await host.call("x.bank", "statement", ["year": 2026], token: token) == statement)
        let text = await host.open(
            "\(url)?token=\(Self.token)", token: RouteToken("another-0123456789"))
        #expect(text.hasPrefix("no route for"), "\(text)")
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "a token opens what its scopes cover, however that is spelt",
        arguments: [
            ("app://x.bank/statement/2026", true), ("app://statement/2026", true),
            ("APP://X.BANK/%73tatement//2026/", true), ("app:///statement/2026", true),
            // Not in its scopes.
            ("app://x.bank/close", false), ("app://close", false),
            ("app://x.bank/statement/../close", false), ("app://x.bank/statement%2Fclose", false),
            ("app://x.a/user/mia", false),
            // In its scopes, but the app's own: no token opens that.
            ("app://x.bank/transfer", false),
        ])
    func scopes(url: String, isOpen: Bool) async throws {
        let host = try await app(test: "scopes \(url)")
        let text = await host.open(url, token: RouteToken(Self.token))
        #expect(text.hasPrefix(#""statement of"#) == isOpen, "\(text)")
        #expect(isOpen || text.hasPrefix("no route for") || text.hasPrefix("malformed"), "\(text)")
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "what is no valid token opens nothing, and is answered as if there was none",
        arguments: [
            "", "x", String(token.dropLast()), token + "x", token.uppercased(), expired, "•••",
            "phone",
        ])
    func invalid(token: String) async throws {
        let host = try await app(test: "invalid \(token)")
        let url = "app://x.bank/statement/2026"
        let without = await host.open(url)
        #expect(without.hasPrefix("no route for"), "\(without)")
        #expect(await host.open(url, token: RouteToken(token)) == without)
        #expect(await host.stopped() == .stopped)
    }

    @Test("two tokens in a URL are an error that shows neither")
    func twoTokens() async throws {
        let host = try await app()
        let text = await host.open("app://x.bank/hours?token=\(Self.token)&token=\(Self.expired)")
        #expect(text.hasPrefix("malformed URL: "), "\(text)")
        #expect(!text.contains("0123456789"), "\(text)")
        #expect(await host.stopped() == .stopped)
    }

    @Test("a token is compared with every one there is, whichever it is")
    func constantTime() throws {
        let store = try Self.tokens()
        for token in [Self.token, Self.expired, "another-0123456789"] {
            var count = 0
            _ = store.grant(for: RouteToken(token), now: .now()) { given, kept in
                count += 1
                return given.matches(kept)
            }
            #expect(count == 2)
        }
    }

    @Test("tokens are verified by a file of the host's own, which no other user may read")
    func file() throws {
        let folder = try TemporaryFolder()
        let text = #"[{"token": "\#(Self.token)", "name": "phone", "scopes": ["app://*"]}]"#
        let slatefile = try Slatefile.read(
            Array(
                """
                {"slate": 1, "app": "a", "security": {"tokens": "tokens.json"},
                 "modules": [{"id": "a.b", "command": ["true"], "main": true}]}
                """.utf8), path: "slatefile.json", environment: { _ in nil })
        try writeFile(text.utf8, to: folder.path("tokens.json"), mode: 0o600)
        try #require(chmod(folder.path("tokens.json"), 0o600) == 0)
        #expect(try slatefile.loadTokens(beside: folder.path("slatefile.json")).names == ["phone"])
        try #require(chmod(folder.path("tokens.json"), 0o640) == 0)
        let failure = #expect(throws: SlatefileFailure.self) {
            try slatefile.loadTokens(beside: folder.path("slatefile.json"))
        }
        #expect(failure?.exitCode == .notPermitted)
    }

    // MARK: What a stranger learns

    @Test(
        "what may not be reached answers like what does not exist, to the letter",
        arguments: [
            "app://x.bank/transfer", "app://x.bank/transfer?amount=7",
            "app://x.bank/transfer?amount=x", "app://x.bank/transfre", "app://transfer",
            "app://x.bank/close", "app://x.bank/statement/2026", "app://x.bank/statement/x",
            "app://x.bank/statement/2026?token=another-0123456789",
        ])
    func invisible(url: String) async throws {
        let there = try await app(test: "there \(url)")
        let notThere = try await app(bank: "OpenBankModule", test: "notThere \(url)")
        #expect(await there.open(url) == (await notThere.open(url)))
        for action in ["transfer", "transfre", "close", "statement"] {
            #expect(
                await there.call("x.bank", action) == (await notThere.call("x.bank", action)))
        }
        #expect(await there.stopped() == .stopped)
        #expect(await notThere.stopped() == .stopped)
    }

    @Test("a token is seen by no module, and stands in no reply, no error and no line of the log")
    func secret() async throws {
        let host = try await app(with: [.init(name: "watch", type: "WatchModule")])
        let secret = "?a=b&token=\(Self.token)&c=d"
        var said = [
            await host.open("app://x.bank/seen/x\(secret)"),
            await host.open("app://x.bank/statement/x\(secret)"),
            await host.open("app://x.bank/none\(secret)"),
            await host.open("app://x.bank/none\(secret)", token: RouteToken(Self.token)),
        ]
        try host.deliver(.openURL, #"{"url": "app://x.bank/none\#(secret)"}"#)
        said.append(
            try await host.asFirst { module in
                let url = "app://x.bank/none\(secret)"
                return "\(try module.context.router.open(url, from: .push))"
            })
        await host.settled()
        #expect(said[0] == #""app://x.bank/seen/x?a=b&c=d 0""#)
        said += host.probe.entries
        said += host.recorder.records.map { "\($0)" }
        #expect(host.probe.entries("sees").count == 6)
        #expect(host.probe.entries("asked").count == 5)
        #expect(said.filter { $0.contains(Self.token) } == [])
        #expect(await host.stopped() == .stopped)
    }

    @Test("who connects to the control socket is named by the kernel, and a stranger is shut out")
    func peers() throws {
        let socket = try ServedSocket()
        let peer = try socket.client().ask("peer")
        #expect(peer == "[\(getpid()),\(geteuid()),\(getegid())]")
        let closed = try ServedSocket(accepts: { _ in false })
        let stranger = try closed.client()
        stranger.call("peer")
        let lines = stranger.lines()
        #expect(lines.count == 1 && lines[0].contains("not permitted"), "\(lines)")
    }
}
