import TestSupport
import Testing

@testable import ModuleHost
@testable import ModuleHostCore

/// Provides a service, and declares a topic that needs escapes everywhere.
final class GraphStore: ServiceProvider, MessageResponder, TopicListener {
    static var services: [Any.Type] { [(any DeclaredStore).self] }
    static var topics: [String] { ["a\"<b>\\\u{1B}"] }

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
}

/// Uses and calls others.
final class GraphCart: ServiceUser, RouteUser {
    static var usedServices: [Any.Type] { [(any DeclaredStore).self] }
    static var usedRoutes: [UsedRoute] {
        [.action("page/:id", of: "x.listed"), .url("slate://page/7?a=1&b=2"), .url("slate://open")]
    }

    init(context: ModuleContext) {}
}

/// Posts messages.
final class GraphPoster: TopicPoster {
    static var postedTopics: [String] { ["cart.changed"] }

    init(context: ModuleContext) {}
}

@Suite("The graph of an app")
struct AppGraphTests {
    @Test("it shows the topics on which a module posts")
    func posts() throws {
        let graph = AppGraph(
            of: try StaticRoutesTests.read(
                StaticRoutesTests.text([StaticRoutesTests.module("x.poster", "GraphPoster", "")])))
        #expect(
            graph.rendered(as: .text).hasSuffix(
                "x.poster  ModuleHostTests.GraphPoster\n  posts     cart.changed\n"))
        #expect(graph.rendered(as: .json).contains(#""posts":["cart.changed"]"#))
        #expect(
            graph.rendered(as: .dot).contains(
                "  \"x.poster\" -> \"topic cart.changed\" [style=dotted]\n"))
        #expect(graph.rendered(as: .svg).contains("cart.changed"))
    }

    private func graph() throws -> AppGraph {
        AppGraph(
            of: try StaticRoutesTests.read(
                StaticRoutesTests.text([
                    StaticRoutesTests.module("x.store", "GraphStore", #", "required": true"#),
                    StaticRoutesTests.module(
                        "x.listed", "ListedModule",
                        #", "isolation": "process", "needs": ["x.store", "x.main"]"#),
                    StaticRoutesTests.module("x.cart", "GraphCart", #", "needs": ["x.store"]"#),
                    StaticRoutesTests.module("x.off", "ProbeModule", #", "enabled": false"#),
                    #"{ "id": "x.command", "command": ["a b", "c"] }"#,
                ])))
    }

    @Test("the topics of a module are those that its class declares")
    func topics() async throws {
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "s", type: "GraphStore")], probe: Probe()
        ).launched()
        let topics = test.host.app.openInModule().records[1].module as? any MessageResponder
        #expect(topics?.topics == GraphStore.topics)
        #expect(await test.stopped() == .stopped)
    }

    @Test("as text")
    func text() throws {
        #expect(
            try graph().rendered(as: .text) == """
                a: 5 modules

                x.main  ModuleHostTests.ProbeModule, main

                x.store  ModuleHostTests.GraphStore, required
                  provides  DeclaredStore
                  topics    a"<b>\\\u{FFFD}

                x.listed  ModuleHostTests.ListedModule, own process
                  needs     x.store
                  needs     x.main

                x.cart  ModuleHostTests.GraphCart
                  needs     x.store
                  uses      DeclaredStore of x.store
                  calls     page/:id of x.listed
                  calls     slate://page/7?a=1&b=2 of x.listed
                  calls     slate://open

                x.command  'a b' c, own process

                """)
    }

    @Test("as JSON")
    func json() throws {
        let json = try JSONValue(parsing: graph().rendered(as: .json))
        let modules = Array(try #require(json["modules"]).elements)
        #expect(json["app"]?.string == "a" && modules.count == 5)
        #expect(
            modules[3].text
                == #"{"id":"x.cart","entry":"ModuleHostTests.GraphCart","main":false,"required":false,"#
                + #""isolated":false,"lazy":false,"needs":["x.store"],"provides":[],"#
                + #""uses":[{"name":"DeclaredStore","module":"x.store"}],"#
                + #""calls":[{"name":"page/:id","module":"x.listed"},"#
                + #"{"name":"slate://page/7?a=1&b=2","module":"x.listed"},"#
                + #"{"name":"slate://open","module":null}],"topics":[]}"#)
        #expect(modules[1]["topics"]?.elements.map(\.string) == GraphStore.topics)
        #expect(modules[2]["isolated"]?.bool == true && modules[1]["required"]?.bool == true)
    }

    @Test("for Graphviz")
    func dot() throws {
        let dot = try graph().rendered(as: .dot)
        #expect(dot.hasPrefix("digraph \"a\" {\n") && dot.hasSuffix("}\n"))
        #expect(
            dot.contains(
                "\n  \"x.store\" [label=\"x.store\\nModuleHostTests.GraphStore\\nrequired\"]\n"))
        #expect(dot.contains("\n  \"x.cart\" -> \"x.store\" [label=\"needs\"]\n"))
        #expect(
            dot.contains("\n  \"x.cart\" -> \"x.store\" [style=dashed, label=\"DeclaredStore\"]\n"))
        #expect(dot.contains("\n  \"topic a\\\"<b>\\\\\u{FFFD}\" -> \"x.store\" [style=dotted]\n"))
        #expect(!dot.contains("slate://open"))
    }

    @Test("as a picture: each box, row and line, and nothing of a name is markup")
    func picture() throws {
        let svg = try graph().rendered(as: .svg)
        #expect(svg.hasPrefix("<svg xmlns=") && svg.hasSuffix("</svg>\n"))
        func count(_ text: String) -> Int {
            svg.split(separator: text, omittingEmptySubsequences: false).count - 1
        }
        #expect(count("<rect class=\"box") == 5)
        #expect(count("a&quot;&lt;b&gt;\\\u{FFFD}") == 1 && !svg.contains("<b>"))
        #expect(svg.contains("slate://page/7?a=1&amp;b=2 of x.listed"))
        // Lines to one place end in one arrow: needs of store and main, the service, the routes of listed.
        #expect(count("<circle") == 12 && count("<polygon") == 4)
    }

    @Test("lines that would lie on each other have tracks of their own")
    func tracks() throws {
        let modules = (0..<6).map { number in
            StaticRoutesTests.module(
                "x.m\(number)", "ListedModule2",
                number < 3 ? "" : #", "needs": ["x.m\#(number - 3)"]"#)
        }
        let text = StaticRoutesTests.text(modules)
        let slatefile = try Slatefile.read(
            Array(text.utf8), path: "s", environment: { _ in nil }, checkEntry: nil)
        let svg = AppGraph(of: slatefile).rendered(as: .svg)
        let vertical = try Regex("d=\"M([0-9]+) ([0-9]+)V([0-9]+)")
        var tracks: [Substring] = []
        for match in svg.matches(of: vertical) { tracks.append(match[1].substring ?? "") }
        #expect(tracks.count == 3 && Set(tracks).count == 3)
    }
}
