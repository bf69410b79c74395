import Testing

@testable import ModuleHost
@testable import ModuleHostCore

/// A class that inherits its conformance.
final class InheritingModule: BaseOfModules {}

/// A class whose conformance is declared elsewhere.
class BaseOfModules {
    required init(context: ModuleContext) {}
}

extension BaseOfModules: Module {}

/// A class that no entry can name.
final class GenericModule<Value>: Module {
    init(context: ModuleContext) {}
}

private final class PrivateModule: Module {
    init(context: ModuleContext) {}
}

/// A module with settings and a route.
final class KitchenModule: RoutedModule, ConfiguredModule {
    struct Configuration: Decodable, Sendable {
        var dishes: [String]
        var heat: Int?
    }

    struct Order: Decodable {
        var dish: String
        var spicy: Bool?
    }

    static var routes: [Route<KitchenModule>] {
        [
            Route("order/:dish", action: "order", access: .public, summary: "Cooks.") {
                (module, request: Order, call) in request.dish
            },
            Route("order/:dish/:", summary: "An error, which is left out.") { (module, call) in },
        ]
    }

    init(context: ModuleContext) {}
}

@Suite("EntryType: all classes of the binary")
struct AvailableModulesTests {
    @Test("every class that an entry can name is there, and can be looked up")
    func all() throws {
        let all = EntryType.all
        #expect(all.map(\.entry) == all.map(\.entry).sorted())
        for (entry, type) in all { #expect(try EntryType(entry).type == type) }
        let names = Set(all.map(\.entry))
        let expected = ["ProbeModule", "InheritingModule", "BaseOfModules", "KitchenModule"]
        for name in expected { #expect(names.contains("ModuleHostTests.\(name)")) }
    }

    @Test("what no entry can name is not there")
    func others() {
        let names = Set(EntryType.all.map(\.entry))
        for name in ["NestedModule", "GenericModule", "PrivateModule", "PlainClass"] {
            #expect(!names.contains("ModuleHostTests.\(name)"))
        }
        #expect(names.allSatisfy { !$0.hasPrefix("ModuleHost.") })
    }

    @Test("settings and routes are listed, without a route that has an error")
    func listing() throws {
        let listing = AvailableModules()
        let lines = listing.text.string.split(separator: "\n")
        let start = try #require(
            lines.firstIndex { $0.hasPrefix("ModuleHostTests.KitchenModule ") })
        let cells = lines[start..<start + 5].map { line in
            line.split(separator: " ").map(String.init)
        }
        #expect(cells[0].dropFirst() == ["setting", "dishes", "[String]"])
        #expect(cells[1] == ["setting", "heat", "Int?"])
        #expect(cells[2] == ["route", "order/:dish", "public"])
        #expect(cells[3] == ["(dish:", "String,", "spicy:", "Bool?)", "->", "String"])
        #expect(cells[4].first?.hasPrefix("ModuleHostTests.") == true)

        let json = try JSONValue(parsing: listing.json)
        let entry = try #require(
            json.elements.first { $0["entry"]?.string == "ModuleHostTests.KitchenModule" })
        #expect(
            entry.text == #"""
                {"entry":"ModuleHostTests.KitchenModule","main":false,"services":[],"settings":[\#
                {"name":"dishes","type":"[String]","expects":"values, each text","values":[],"required":true},\#
                {"name":"heat","type":"Int","expects":"a whole number","values":[],"required":false}],\#
                "partial":false,"routes":[{"pattern":"order/:dish","action":"order","access":"public",\#
                "summary":"Cooks.","parameters":[{"name":"dish","in":"path","type":"String","expects":"text",\#
                "values":[],"required":true,"list":false},{"name":"spicy","in":"query","type":"Bool",\#
                "expects":"true, false, 1 or 0","values":[],"required":false,"list":false}],"partial":false,\#
                "reply":"String"}]}
                """#)
    }
}
