import TestSupport
import Testing

@testable import ModuleHostCore

/// A shop as its pages on the web are: the patterns are those of MGJRouter's own examples.
final class ShopModule: RoutedModule {
    struct Search: Decodable { var query: String }
    struct Item: Decodable { var id: Int }
    struct Page: Decodable { var url: String }

    static var routes: [Route<ShopModule>] {
        [
            Route("mgj://category/家居") { (module, call) in "home" },
            Route("mgj://category/travel") { (module, call) in "travel" },
            Route("mgj://search/:query", access: .public) { (module, request: Search, call) in
                "found \(request.query)"
            },
            Route("mgj://detail/:id.html", access: .public) { (module, request: Item, call) in
                "item \(request.id)"
            },
            Route("mgj://even/:id", access: .public) {
                $0.id % 2 == 0
            } handler: {
                (module, request: Item, call) in
                "even \(request.id)"
            },
            Route("mgj://shop.example:8080/open") { (module, call) in "port 8080" },
            Route("mgj://web") { (module, request: Page, call) in request.url },
            Route("mgj://cart/count") { (module, call) in module.cart.count },
            Route("mgj://cart/add") { (module, call) in
                module.cart.append(call.userInfo["item"] as? String ?? "?")
            },
        ]
    }

    private var cart: [String] = []

    init(context: ModuleContext) {}
}

/// Row 1 of the seed systems: a URL runs a block.
@Suite("Row 1: URLs to handlers", .timeLimit(.minutes(10)))
struct Row01MGJRouterTests {
    private struct Named: Decodable { var name: String }

    /// An app of one who calls, and the shop.
    private func shop(_ test: String = #function) async throws -> HostUnderTest {
        try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "shop", type: "ShopModule")],
            top: #""schemes": ["app"]"#, probe: Probe(test)
        ).launched()
    }

    /// What `body` makes of a router of a running shop.
    private func withRouter(
        _ test: String = #function, _ body: @escaping @Sendable (Router) throws -> String
    ) async throws -> String {
        let host = try await shop(test)
        let text = try await host.asFirst { try body($0.context.router) }
        #expect(await host.stopped() == .stopped)
        return text
    }

    /// A route of the caller's own that answers who it is.
    private static func route(_ pattern: String, _ answer: String) -> Route<CallProbe> {
        Route(pattern) { (module, call) in answer }
    }

    // MARK: The verbs

    @Test("register a handler, open its URL")
    func registerAndOpen() async throws {
        let host = try await shop()
        // The route holds its handler, and the host the route: not the other way round, too.
        let probe = host.probe
        let text = try await host.asFirst { module in
            let router = module.context.router
            try router.add(
                Route("mgj://note/:name") { (module: CallProbe, request: Named, call) in
                    probe.note("noted \(request.name)")
                })
            try router.open("mgj://note/mia")
            return "opened"
        }
        #expect(text == "opened")
        #expect(host.probe.entries("noted") == ["noted mia"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("register an object handler, ask for its object")
    func value() async throws {
        let text = try await withRouter { router in
            try router.add(
                Route("mgj://search_top_bar") { (module: CallProbe, call) in ["bar", "field"] })
            let bar = try router.value(for: "mgj://search_top_bar", as: [String].self)
            return "\(bar) \(try router.value(for: "mgj://cart/count", as: Int.self))"
        }
        #expect(text == #"["bar", "field"] 0"#)
    }

    @Test("open with userInfo: objects reach the handler beside the URL")
    func userInfo() async throws {
        let text = try await withRouter { router in
            try router.open("mgj://cart/add", userInfo: ["item": "lamp"])
            return "\(try router.value(for: "mgj://cart/count", as: Int.self))"
        }
        #expect(text == "1")
    }

    @Test("open with a completion: it receives the outcome, good or bad, once")
    func completion() async throws {
        let host = try await shop()
        let both = Promise<String>()
        _ = try await host.asFirst { module in
            let router = module.context.router
            router.open("mgj://detail/7.html") { first in
                host.probe.note("completed")
                router.open("mgj://detail/seven.html") { second in
                    host.probe.note("completed")
                    both.keep("\((try? first.get()) ?? "failed"), \(second)")
                }
            }
            return ""
        }
        let text = await both.value
        #expect(text.hasPrefix("item 7, failure("), "\(text)")
        await host.settled()
        #expect(host.probe.entries("completed").count == 2)
        #expect(await host.stopped() == .stopped)
    }

    @Test("deregister: the pattern answers no more")
    func remove() async throws {
        let text = try await withRouter { router in
            try router.add(Self.route("mgj://sale", "sale"))
            let before = try router.value(for: "mgj://sale", as: String.self)
            #expect(router.remove("mgj://sale"))
            #expect(!router.remove("mgj://sale"))
            return "\(before) \(router.canOpen("mgj://sale"))"
        }
        #expect(text == "sale false")
    }

    @Test("one module does not deregister what is another's")
    func removeOfAnother() async throws {
        let text = try await withRouter { router in
            #expect(!router.remove("mgj://category/travel"))
            return try router.value(for: "mgj://category/travel")
        }
        #expect(text == "travel")
    }

    @Test("generate a URL: whatever is in the parameters, it reads back")
    func generate() async throws {
        let text = try await withRouter { router in
            let url = try router.url(for: "mgj://search/:query", ["query": "a/b?c=d&e ü%"])
            return "\(url) \(try router.value(for: url, as: String.self))"
        }
        #expect(text == "mgj://search/a%2Fb%3Fc%3Dd%26e%20%C3%BC%25 found a/b?c=d&e ü%")
    }

    @Test(
        "placeholders take one segment each, with or without a suffix",
        arguments: [
            ("mgj://search/lamp", "found lamp"),
            ("mgj://search/%E5%AE%B6", "found 家"),
            ("mgj://detail/42.html", "item 42"),
            ("mgj://search/lamp/table", "no route for 'mgj://search/lamp/table'"),
            ("mgj://detail/42", "no route for 'mgj://detail/42'"),
        ])
    func placeholders(url: String, answer: String) async throws {
        let text = try await withRouter("placeholders \(url)") { try $0.value(for: url) }
        #expect(text.hasPrefix(answer), "\(text)")
    }

    @Test("the scheme alone catches all of it that nothing else answers, and no other scheme")
    func catchAll() async throws {
        let text = try await withRouter { router in
            let before = router.canOpen("mgj://no/such/page")
            try router.add(Self.route("mgj://", "caught"))
            let caught = try router.value(for: "mgj://no/such/page", as: String.self)
            let own = try router.value(for: "mgj://category/travel", as: String.self)
            return "\(before) \(caught) \(own) \(router.canOpen("other://no/such/page"))"
        }
        #expect(text == "false caught travel false")
    }

    // MARK: What breaks elsewhere

    /// A URL, who asks, and whether a handler would run.
    struct Question: CustomTestStringConvertible {
        var url: String
        var origin: Origin?
        var answer: Bool
        var testDescription: String { "\(url) from \(origin.map { "\($0)" } ?? "the app")" }
    }

    static let questions = [
        Question(url: "mgj://detail/7.html", answer: true),
        Question(url: "mgj://detail/7.html", origin: .push, answer: true),
        // A prefix of a pattern, and a pattern with more behind it.
        Question(url: "mgj://detail", answer: false),
        Question(url: "mgj://detail/7.html/more", answer: false),
        // What the handler could not read.
        Question(url: "mgj://detail/seven.html", answer: false),
        Question(url: "mgj://web", answer: false),
        Question(url: "mgj://web?url=a&url=b", answer: false),
        // The predicate.
        Question(url: "mgj://even/2", answer: true),
        Question(url: "mgj://even/3", answer: false),
        Question(url: "mgj://even/two", answer: false),
        // Access: what is the app's own, a push cannot open.
        Question(url: "mgj://category/travel", answer: true),
        Question(url: "mgj://category/travel", origin: .push, answer: false),
        Question(url: "mgj://category/travel", origin: .inbox, answer: false),
        // No URL.
        Question(url: "mgj://detail/%zz.html", answer: false),
    ]

    @Test("canOpen does not lie: it says yes exactly where open succeeds", arguments: questions)
    func canOpen(question: Question) async throws {
        let text = try await withRouter("canOpen \(question.testDescription)") { router in
            let says = router.canOpen(question.url, from: question.origin)
            let does = (try? router.open(question.url, from: question.origin)) != nil
            return "\(says) \(does)"
        }
        #expect(text == "\(question.answer) \(question.answer)")
    }

    @Test(
        "a URL in a query is a value like others",
        arguments: [
            "https://m.example/a?b=c", "mgj://category/travel", "mgj://web?url=mgj://web",
            "http://m.example:80/x:y@z/?",
        ])
    func nestedURL(nested: String) async throws {
        let text = try await withRouter("nestedURL \(nested)") { router in
            let plain = try router.value(for: "mgj://web?url=\(nested)&n=1", as: String.self)
            let built = try router.url(for: "mgj://web?url=:url", ["url": nested])
            #expect(try router.value(for: built, as: String.self) == plain)
            return plain
        }
        #expect(text == nested)
    }

    @Test("a port belongs to its host, and matches there alone")
    func ports() async throws {
        let text = try await withRouter { router in
            try router.add(Self.route("mgj://shop.example/open", "no port"))
            let urls = [
                "mgj://shop.example:8080/open", "mgj://SHOP.example:8080/open",
                "mgj://shop.example/open",
            ]
            let answers = try urls.map { try router.value(for: $0, as: String.self) }
            return "\(answers) \(router.canOpen("mgj://shop.example:8081/open"))"
        }
        #expect(text == #"["port 8080", "port 8080", "no port"] false"#)
    }

    @Test("a pattern need not be ASCII, and is the same raw and escaped")
    func nonASCII() async throws {
        let text = try await withRouter { router in
            let raw = try router.value(for: "mgj://category/家居", as: String.self)
            let escaped = try router.value(
                for: "mgj://category/%E5%AE%B6%E5%B1%85", as: String.self)
            let built = try router.url(for: "mgj://category/家居")
            return "\(raw) \(escaped) \(built)"
        }
        #expect(text == "home home mgj://category/%E5%AE%B6%E5%B1%85")
    }

    @Test(
        "a literal beats a placeholder, whatever the order of adding",
        arguments: [["mgj://a/:x", "mgj://a/b"], ["mgj://a/b", "mgj://a/:x"]])
    func precedence(order: [String]) async throws {
        let text = try await withRouter("precedence \(order)") { router in
            for pattern in order { try router.add(Self.route(pattern, pattern)) }
            let answers = try ["mgj://a/b", "mgj://a/c"].map {
                try router.value(for: $0, as: String.self)
            }
            return answers.joined(separator: " ")
        }
        #expect(text == "mgj://a/b mgj://a/:x")
    }

    @Test("to deregister a pattern leaves those above, below and beside it")
    func subtree() async throws {
        let text = try await withRouter { router in
            let patterns = ["mgj://a", "mgj://a/b", "mgj://a/:x", "mgj://a/b/c", "mgj://a/b/*"]
            for pattern in patterns { try router.add(Self.route(pattern, pattern)) }
            #expect(router.remove("mgj://a/b"))
            let answers = try ["mgj://a", "mgj://a/b/c", "mgj://a/b/d", "mgj://a/c"].map {
                try router.value(for: $0, as: String.self)
            }
            return answers.joined(separator: " ")
        }
        #expect(text == "mgj://a mgj://a/b/c mgj://a/b/* mgj://a/:x")
    }

    @Test("URLs may be opened from any thread while routes come and go")
    func threads() async throws {
        let host = try await shop()
        let line = Promise<AsyncRouter>()
        _ = try await host.asFirst {
            line.keep($0.context.router.offLane)
            return ""
        }
        let router = await line.value
        let outcomes = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var seen: Set<String> = []
                    for count in 0..<200 {
                        let item = "mgj://detail/\(number * 1000 + count).html"
                        let answer = try await router.value(for: item, as: String.self)
                        seen.insert(answer == "item \(number * 1000 + count)" ? "item" : answer)
                        do {
                            let sale: String = try await router.value(for: "mgj://sale/now")
                            seen.insert(sale)
                        } catch RouteError.notFound {
                            seen.insert("closed")
                        }
                    }
                    return seen
                }
            }
            for _ in 0..<200 {
                let changed = try await host.asFirst { module in
                    let router = module.context.router
                    guard router.remove("mgj://sale/:when") else {
                        try router.add(Self.route("mgj://sale/:when", "sale"))
                        return "added"
                    }
                    return "removed"
                }
                #expect(["added", "removed"].contains(changed))
            }
            return try await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(outcomes.isSubset(of: ["item", "sale", "closed"]))
        #expect(outcomes.contains("item"))
        // An even number of changes: all is as it was.
        #expect(await !router.canOpen("mgj://sale/now"))
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "no URL from outside can crash the app: each is an error, and the next is answered",
        arguments: [
            ("", "malformed URL"), ("mgj", "malformed URL"), ("://", "malformed URL"),
            ("mgj://%", "malformed URL"), ("mgj://search/%zz", "malformed URL"),
            ("mgj://search/%C0%AF", "malformed URL"), ("mgj://search/%ED%A0%80", "malformed URL"),
            ("mgj://search/a b", "malformed URL"), ("mgj://search/\u{0}", "malformed URL"),
            ("mgj://search/..", "malformed URL"), ("mgj://search/%2e%2E", "malformed URL"),
            ("mgj://user:word@search/a", "malformed URL"),
            ("mgj://search/" + String(repeating: "a", count: 8192), "malformed URL"),
            ("mgj://" + String(repeating: "a/", count: 65), "malformed URL"),
            ("mgj://search/a?" + String(repeating: "a&", count: 257), "malformed URL"),
            ("mgj://detail/99999999999999999999.html", "parameter 'id': 9"),
            ("mgj://detail/-.html", "parameter 'id': expected"),
            ("mgj://detail/.html", "no route for"), ("mgj://search//", "no route for"),
            ("mgj://" + String(repeating: "a/", count: 63), "no route for"),
            ("mgj:", "no route for"), ("mgj://search/(:query)*", #""found (:query)*""#),
            ("mgj://search/%00", #""found \u0000""#),
        ])
    func hostile(url: String, answer: String) async throws {
        let host = try await shop("hostile \(url)")
        let text = await host.open(url)
        #expect(text.hasPrefix(answer), "\(text)")
        #expect(await host.open("mgj://search/next") == #""found next""#)
        #expect(await host.stopped() == .stopped)
    }
}
