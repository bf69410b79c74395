import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Route")
struct RouteTests {
    final class Shop: RoutedModule {
        struct Item: Decodable, Sendable {
            var id: Int
            var style: String?
        }
        struct Reply: Encodable, Sendable, Equatable { var text: String }
        var shown: [Int] = []

        init(context: ModuleContext) {}
        init() {}

        static var routes: [Route<Shop>] {
            [
                Route("item/:id", access: .public, summary: "Shows an item.") {
                    (module, item: Item, call) in
                    module.shown.append(item.id)
                    return Reply(text: "\(item.id) \(item.style ?? "-") for \(call.origin)")
                },
                Route(
                    "even/:id", when: { (item: Item) in item.id.isMultiple(of: 2) },
                    handler: { module, item, _ in module.shown.append(item.id) }),
                Route("even/*") { module, _ in module.shown.append(0) },
                Route("count") { module, _ in module.shown.count },
            ]
        }
    }

    static func table() throws -> RouteTable {
        let shop = ModuleID(checked: "com.mm.shop")
        var table = try RouteTable(schemes: ["slate"], modules: [shop])
        for route in try Shop.erasedRoutes() { try table.add(route, of: shop) }
        return table
    }

    func perform(_ url: String, _ shop: Shop) throws -> String {
        let match = try #require(
            try Self.table().match(RouteURL(url)) { entry, parameters in
                entry.route.accepts(parameters)
            })
        let reply = try match.entry.route.perform(
            shop, match.parameters, RouteCall(origin: .host, url: match.url))
        return try String(decoding: JSONEncoding.bytes(reply), as: UTF8.self)
    }

    @Test("decodes the request, calls the module, and gives its reply")
    func call() throws {
        let shop = Shop()
        #expect(try perform("slate://item/7?style=big", shop) == #"{"text":"7 big for host"}"#)
        #expect(try perform("slate://com.mm.shop/count", shop) == "1")
        #expect(try perform("slate://even/8", shop) == "null")
        // The predicate says no: the next candidate answers.
        #expect(try perform("slate://even/9", shop) == "null")
        #expect(shop.shown == [7, 8, 0])
    }

    @Test("names the error before the handler runs, also where a predicate stands before it")
    func error() throws {
        let shop = Shop()
        for (url, name) in [("slate://item/x", "x"), ("slate://even/y", "y")] {
            #expect(
                throws: ParameterError(
                    name: "id", kind: .mismatch(value: name, expected: "a whole number"))
            ) {
                try perform(url, shop)
            }
        }
        #expect(shop.shown.isEmpty)
    }

    @Test("can be read and checked without the module")
    func description() throws {
        let routes = try Self.table().routes.map(\.route)
        #expect(routes.map(\.pattern.text) == ["item/:id", "even/:id", "even/*", "count"])
        #expect(routes.map(\.access) == [.public, .local, .local, .local])
        #expect(routes.map(\.replyType) == ["Reply", nil, nil, "Int"])
        #expect(
            routes.map { $0.request.fields.map(\.name) } == [
                ["id", "style"], ["id", "style"], [], [],
            ])
        #expect(routes[0].request.fields.map(\.isOptional) == [false, true])
        #expect(throws: ParameterError.self) { try routes[0].check(RouteParameters(["id": "x"])) }
        #expect(throws: Never.self) { try routes[0].check(RouteParameters(["id": "1"])) }
    }

    @Test("refuses a malformed pattern when it is added, and another module when it is called")
    func misuse() throws {
        let malformed = Route<Shop>("a b") { _, _ in }
        #expect(
            throws: RouteError.pattern(
                RoutePatternError(pattern: "a b", kind: .character(" "), offset: 1))
        ) {
            try AnyRoute(malformed)
        }
        let route = try AnyRoute(Route<Shop>("a") { _, _ in })
        #expect(throws: RouteError.otherModule(expected: "Shop", found: "Other")) {
            try route.perform(Other(), RouteParameters(), RouteCall(origin: .host))
        }
    }

    final class Other {}
}

@Suite("URLCharacters")
struct URLCharactersTests {
    static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    static let sets: [(URLCharacters, String)] = [
        (.plain, unreserved), (.segment, unreserved + "!$&'()*+,;=:@"),
        (.authority, unreserved + "!$&'()*+,;=:[]"), (.itemName, unreserved + "!$'()*+,;:@/?[]"),
        (.itemValue, unreserved + "!$'()*+,;:@/?[]="),
        (.fragment, unreserved + "!$&'()*+,;=:@/?[]"),
        (.scheme, unreserved.filter { $0 != "_" && $0 != "~" } + "+"),
    ]

    @Test("are the characters that they say")
    func members() {
        for (set, characters) in Self.sets {
            for byte in UInt8.min...UInt8.max {
                #expect(set.contains(byte) == Array(characters.utf8).contains(byte))
            }
        }
    }
}
