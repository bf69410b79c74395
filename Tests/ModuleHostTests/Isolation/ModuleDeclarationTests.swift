import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Declaration of a module in a process of its own")
struct ModuleDeclarationTests {
    private func read(
        _ answer: String
    ) throws -> (declaration: ModuleDeclaration, isReady: Bool) {
        try ModuleDeclaration.read(JSONValue(parsing: answer), of: ModuleID("com.example.weather"))
    }

    @Test("all that a module can say of itself")
    func whole() throws {
        let (declaration, isReady) = try read(
            #"""
            {"protocol":2,"module":"com.example.weather","events":["launch","resign-active","launch"],
             "topics":["city.*","user"],"ready":false,
             "routes":[{"pattern":"forecast/:city","action":"forecast","access":"public",
             "summary":"What comes.","reply":"Forecast","parameters":[{"name":"city"},{"name":"days",
             "type":"Int","expects":"1 to 7","values":["1"],"required":false,"list":true}]},
             {"pattern":"now"}]}
            """#)
        #expect(declaration.events == [.launch, .resignActive, .message])
        #expect(declaration.topics == ["city.*", "user"])
        #expect(!isReady)
        let city = DeclaredRoute.Parameter(
            name: "city", type: nil, expects: nil, values: nil, required: nil, list: nil)
        let days = DeclaredRoute.Parameter(
            name: "days", type: "Int", expects: "1 to 7", values: ["1"], required: false, list: true
        )
        #expect(
            declaration.routes == [
                DeclaredRoute(
                    pattern: "forecast/:city", action: "forecast", access: .public,
                    summary: "What comes.", parameters: [city, days], reply: "Forecast",
                    later: nil, deadlineMs: nil),
                DeclaredRoute(
                    pattern: "now", action: nil, access: nil, summary: nil, parameters: nil,
                    reply: nil, later: nil, deadlineMs: nil),
            ])
        #expect(declaration.routes.map(\.name) == ["forecast", "now"])
    }

    @Test("a module that declares no events receives none, and is ready")
    func defaults() throws {
        let (declaration, isReady) = try read(#"{"protocol":2,"module":"com.example.weather"}"#)
        #expect(
            declaration
                == ModuleDeclaration(
                    version: 2, window: nil, events: [], topics: [], routes: [],
                    suppliesRoot: false))
        #expect(isReady)
    }

    @Test("no topics, no messages")
    func noTopics() throws {
        let (declaration, _) = try read(
            #"{"protocol":2,"module":"com.example.weather","events":["push"],"topics":[]}"#)
        #expect(declaration.events == [.push])
    }

    @Test("a module receives the events of the protocols that its class declares")
    func everyProtocol() async throws {
        let test = try await HostUnderTest("a", probe: Probe()).launched()
        let events = Promise<Set<EventKind>>()
        test.host.onLane { app, _ in
            events.keep(
                app.records[0].module.map { module in
                    Set(EventKind.allCases.filter { $0.isReceived(by: module) })
                } ?? [])
        }
        let declared = EventKind.allCases.filter {
            $0.definition.isDeclared(by: ProbeModule.self)
        }
        #expect(await events.value == Set(declared))
        #expect(await test.stopped() == .stopped)
    }

    @Test("every event can be declared", arguments: EventKind.allCases)
    func events(kind: EventKind) throws {
        let (declaration, _) = try read(
            #"{"protocol":2,"module":"com.example.weather","events":["\#(kind.rawValue)"]}"#)
        #expect(declaration.events == [kind])
    }

    private static let own = #""protocol":2,"module":"com.example.weather""#

    @Test(
        "what is wrong with an answer",
        arguments: [
            (
                #"{"protocol":1,"module":"com.example.weather"}"#,
                "in version 1 of the protocol; this host speaks 2 and 3"
            ),
            (
                #"{"protocol":4,"module":5}"#,
                "in version 4 of the protocol; this host speaks 2 and 3"
            ),
            (
                #"{"protocol":0,"other":"words"}"#,
                "in version 0 of the protocol; this host speaks 2 and 3"
            ),
            (
                #"{"protocol":2,"module":"com.example.wether"}"#,
                "as module 'com.example.wether', which it is not"
            ),
            // Names of hosts are the same whatever their case; ids that the host sends are not.
            (
                #"{"protocol":2,"module":"com.example.Weather"}"#,
                "as module 'com.example.Weather', which it is not"
            ),
            (
                #"{\#(own),"events":["launch","activated"]}"#,
                "with unknown event 'activated'; did you mean 'activate'?"
            ),
            (#"{\#(own),"events":["rain"]}"#, "with unknown event 'rain'"),
            (#"null"#, "with something else: line 1, column 1: expected an object, found null"),
            (#"{}"#, "with something else: line 1, column 1: missing key 'protocol'"),
            (
                #"{"protocol":"2","module":"com.example.weather"}"#,
                "with something else: line 1, column 13 (/protocol): "
                    + #"expected a whole number, found the string "2""#
            ),
            (#"{"protocol":2}"#, "with something else: line 1, column 1: missing key 'module'"),
            (
                #"{\#(own),"event":["launch"]}"#,
                "with something else: line 1, column 46 (/event): "
                    + "unknown key 'event'; did you mean 'events'?"
            ),
            (
                #"{\#(own),"ready":"no"}"#,
                "with something else: line 1, column 54 (/ready): "
                    + #"expected true or false, found the string "no""#
            ),
            (
                #"{\#(own),"topics":"city.*"}"#,
                "with something else: line 1, column 55 (/topics): "
                    + #"expected an array, found the string "city.*""#
            ),
            (
                #"{\#(own),"routes":[{"action":"forecast"}]}"#,
                "with something else: line 1, column 56 (/routes/0): missing key 'pattern'"
            ),
            (
                #"{\#(own),"routes":[{"pattern":"now","access":"everybody"}]}"#,
                "with something else: line 1, column 82 (/routes/0/access): "
                    + #"Cannot initialize RouteAccess from invalid String value everybody"#
            ),
            (
                #"{\#(own),"routes":[{"pattern":"now","parameters":[{"type":"Int"}]}]}"#,
                "with something else: line 1, column 87 (/routes/0/parameters/0): "
                    + "missing key 'name'"
            ),
        ])
    func diagnostics(answer: String, what: String) throws {
        let error = try #require(throws: DeclarationError.self) { try read(answer) }
        #expect("\(error)" == "answered 'initialize' \(what)")
    }
}
