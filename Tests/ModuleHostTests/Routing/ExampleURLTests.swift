import TestSupport
import Testing

@testable import ModuleHostCore

/// Requests of every kind that a module may think of.
private enum Requests {
    enum Color: String, CaseIterable, Codable, Sendable { case red, green }
    enum Level: Int, CaseIterable, Codable, Sendable {
        case low = -3
        case high = 7
    }
    enum Shape: CaseIterable, Codable, Sendable { case round, square }
    enum Lonely: String, Codable, Sendable { case only = "text" }

    /// A single value with a type of its own.
    struct Name: RawRepresentable, Codable, Hashable, Sendable { var rawValue: String }
    /// One that only takes digits.
    struct Digits: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard Int(text) != nil else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no"))
            }
        }
    }
    struct Point: Codable, Hashable, Sendable {
        var x: Double
        var label: String
        var color: Color
        var when: DateTime?
        var tags: [String]
    }
    struct Tree: Codable, Sendable {
        var value: Int
        var children: [Tree]
        var parent: [String: Tree]?
    }

    struct Scalars: Decodable, Sendable {
        var flag: Bool
        var tiny: Int8
        var huge: UInt128
        var ratio: Double
        var small: Float
        var text: String
    }
    struct Enums: Decodable, Sendable {
        var color: Color
        var level: Level
        var levels: [Level]
        var shape: Shape
        var lonely: Lonely
    }
    struct Times: Decodable, Sendable {
        var at: DateTime
        var until: DateTime?
        var all: [DateTime]
        var after: Duration
    }
    struct Lists: Decodable, Sendable {
        var tags: [String]
        var ids: Set<Int>
        var points: [Point]
        var grid: [[Int]]
        var names: [Name]
        var none: [Bool]?
    }
    struct Nested: Decodable, Sendable {
        var point: Point
        var tree: Tree
        var any: JSONValue
        var map: [String: Int]
        var name: Name
        var digits: Digits
    }
    struct Options: Decodable, Sendable {
        var text: String?
        var number: Int?
        var color: Color?
        var point: Point?
        var list: [Int]?
    }
    /// Fails if an optional that needs the other is there alone.
    struct Exclusive: Decodable, Sendable {
        var first: String?
        var second: String?

        enum CodingKeys: CodingKey { case first, second }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            first = try container.decodeIfPresent(String.self, forKey: .first)
            second = try container.decodeIfPresent(String.self, forKey: .second)
            if first != nil, second != nil, first != "text" {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "both"))
            }
        }
    }
    struct Path: Decodable, Sendable { var path: [String] }
    struct Numbers: Decodable, Sendable { var rest: [Int] }
    struct Item: Decodable, Sendable { var id: Int }
    struct File: Decodable, Sendable {
        var name: String
        var year: Int?
    }
    struct Secret: Decodable, Sendable { var token: String? }
}

@Suite("Example URLs")
struct ExampleURLTests {
    static let module = ModuleID(checked: "com.mm.odd")

    static func route<Request: Decodable & Sendable>(
        _ pattern: String, _ type: Request.Type,
        when predicate: (@Sendable (Request) -> Bool)? = nil
    ) throws -> AnyRoute {
        try AnyRoute(Route<IdleModule>(pattern, when: predicate) { (_, _: Request, _) in })
    }

    static func table(_ routes: [AnyRoute]) throws -> RouteTable {
        var table = try RouteTable(schemes: ["slate"], modules: [module])
        for route in routes { try table.add(route, of: module) }
        return table
    }

    /// Whether a URL leads to this pattern, with a request that can be made.
    static func opens(_ url: String, _ table: RouteTable, _ pattern: String) throws -> Bool {
        let match = try table.match(RouteURL(url)) { $0.route.accepts($1) }
        try match?.entry.route.check(match?.parameters ?? RouteParameters())
        return match?.entry.route.pattern.text == pattern
    }

    @Test("work, whatever the pattern and the request")
    func all() throws {
        let table = try Self.table([
            Self.route("scalars", Requests.Scalars.self),
            Self.route("enums/:color", Requests.Enums.self),
            Self.route("times/:at", Requests.Times.self),
            Self.route("lists", Requests.Lists.self),
            Self.route("nested", Requests.Nested.self),
            Self.route("options", Requests.Options.self),
            Self.route("exclusive", Requests.Exclusive.self),
            Self.route("files/*path", Requests.Path.self),
            Self.route("numbers/*rest", Requests.Numbers.self),
            Self.route("item/:id", Requests.Item.self),
            Self.route("item/:id.html", Requests.Item.self),
            Self.route("item/7", Requests.Item.self),
            Self.route("even/:id", Requests.Item.self, when: { $0.id.isMultiple(of: 2) }),
            Self.route("large/:id", Requests.Item.self, when: { $0.id > 50 }),
            Self.route("even/*", Requests.Options.self),
            Self.route("archive(/:year)/:name.tar.gz", Requests.File.self),
            Self.route("list(/page/:number)(/of/:text)", Requests.Options.self),
            Self.route("declared?color=:color&depth=:depth", Requests.Options.self),
            Self.route("grüße/:ä", Requests.Options.self),
            Self.route("%3Aliteral/%2A", Requests.Options.self),
            Self.route("secret", Requests.Secret.self),
            Self.route("/", Requests.Options.self),
            Self.route("slate://absolute/:name", Requests.File.self),
            Self.route("other://", Requests.Options.self),
            AnyRoute(Route<IdleModule>("plain/:first/:second(/:third)/*") { _, _ in }),
        ])
        let document = URIDocument(table, app: "odd")
        for route in document.routes where route.pattern != "item/7" {
            let example = try #require(route.example, "\(route.pattern)")
            #expect(
                try Self.opens(example, table, route.pattern), "\(route.pattern): \(example)")
        }
        let examples = Dictionary(
            uniqueKeysWithValues: document.routes.map { ($0.pattern, $0.example) })
        let expected = [
            "enums/:color":
                "slate://com.mm.odd/enums/red?level=-3&levels=-3&levels=7"
                + "&shape=%7B%22round%22%3A%7B%7D%7D&lonely=text",
            "times/:at":
                "slate://com.mm.odd/times/2026-03-01T09%3A41%3A00Z?until=2026-03-01T09%3A41%3A00Z"
                + "&all=2026-03-01T09%3A41%3A00Z&after=2s",
            "files/*path": "slate://com.mm.odd/files/first/second",
            "numbers/*rest": "slate://com.mm.odd/numbers/1/10",
            "even/:id": "slate://com.mm.odd/even/2",
            "large/:id": "slate://com.mm.odd/large/100",
            "item/:id.html": "slate://com.mm.odd/item/1.html",
            "archive(/:year)/:name.tar.gz": "slate://com.mm.odd/archive/1/mia.tar.gz",
            "secret": "slate://com.mm.odd/secret",
            "/": "slate://com.mm.odd/?text=hello&number=1&color=red",
            "slate://absolute/:name": "slate://absolute/mia?year=1",
            "plain/:first/:second(/:third)/*":
                "slate://com.mm.odd/plain/text/text/text/first/second",
        ]
        for (pattern, example) in expected {
            if pattern == "/" {
                #expect(examples[pattern]??.hasPrefix(example) == true)
            } else {
                #expect(examples[pattern] == example)
            }
        }
    }

    @Test("are missing where there is none: a predicate, a rewrite or another route is in the way")
    func none() throws {
        let other = ModuleID(checked: "com.mm.other")
        var table = try RouteTable(
            schemes: ["slate"], modules: [Self.module, other],
            rewrites: [.init(from: "slate://away/:x", to: "https://www.example.com")])
        try table.add(
            Self.route("never/:id", Requests.Item.self, when: { _ in false }), of: Self.module)
        try table.add(Self.route("slate://away/:id", Requests.Item.self), of: Self.module)
        try table.add(Self.route("shadowed", Requests.Options.self), of: other)
        try table.add(Self.route("slate://com.mm.other/*", Requests.Options.self), of: Self.module)
        let document = URIDocument(table, app: "odd")
        #expect(
            document.routes.map { $0.example != nil } == [false, false, true, false])
        #expect(
            document.rendered(as: .text).contains("no example: no URL was found that leads here"))

        let schemeless = try RouteTable(schemes: [], [("m", "a"), ("m", "x://a")])
        #expect(
            URIDocument(schemeless, app: "odd").routes.map(\.example) == [nil, "x://a"])
    }

    @Test("a request that takes any parameter has those of the pattern")
    func dictionary() throws {
        let table = try Self.table([
            Self.route("count/:n?more=:more", [String: Int].self)
        ])
        let route = try #require(URIDocument(table, app: "a").routes.first)
        #expect(route.parameterList == "n: Int, more: Int")
        #expect(route.example == "slate://com.mm.odd/count/1?more=1")
    }

    @Test("what a type of its own looks like is known by what it decodes")
    func expectations() throws {
        let fields = RequestDescription(of: Requests.Nested.self).fields
        #expect(
            fields.map(\.expectation) == [
                "JSON of Point", "JSON of Tree", "any JSON",
                "JSON of Dictionary<String, Int>", "text", "text",
            ])
        let lists = RequestDescription(of: Requests.Lists.self).fields
        #expect(
            lists.map(\.expectation) == [
                "values, each text", "values, each a whole number", "values, each JSON of Point",
                "values, each values, each a whole number", "values, each text",
                "values, each true, false, 1 or 0",
            ])
        #expect(!lists.contains { !$0.isList })
        #expect(
            RequestDescription(of: Requests.Enums.self).fields.map(\.values) == [
                ["red", "green"], ["-3", "7"], ["-3", "7"], [], [],
            ])
    }
}
