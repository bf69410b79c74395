import Testing

@testable import ModuleHostCore

@Suite("What a module's process says of its routes", .timeLimit(.minutes(10)))
struct RouteDescriptionTests {
    private struct Request: Decodable, Sendable {
        let id: Int
        let note: String?
        let tags: [String]
    }

    @Test("each parameter with its type, and whether it must be there")
    func parameters() throws {
        let route = try AnyRoute(
            Route<IdleModule>("shop/:id", action: "show", access: .public, summary: "Shows it.") {
                (_, _: Request, _) in [1]
            })
        var json = JSONWriter()
        route.write(to: &json)
        let value = try JSONValue(parsing: json.bytes)
        #expect(value["pattern"]?.string == "shop/:id")
        #expect(value["action"]?.string == "show")
        #expect(value["access"]?.string == "public")
        #expect(value["summary"]?.string == "Shows it.")
        let parameters = try #require(value["parameters"]).elements
        let rows = parameters.map { parameter in
            [parameter["name"], parameter["type"]].map { $0?.string ?? "?" }
                + [parameter["required"], parameter["list"]].map { "\($0?.bool as Bool?)" }
        }
        #expect(
            rows == [
                ["id", "Int", "Optional(true)", "Optional(false)"],
                ["note", "String", "Optional(false)", "Optional(false)"],
                ["tags", "Array<String>", "Optional(true)", "Optional(true)"],
            ])
    }
}
