import Testing

@testable import ModuleHostCore

@Suite("Access levels")
struct AccessLevelTests {
    private static let module = ModuleID(checked: "a.b")
    private static let inside: [Origin] = [.host, .local(ModuleID(checked: "x.y"))]
    private static let outside: [Origin] = [
        .control(uid: 0, pid: 1), .inbox, .push,
        .signal(name: "RTMIN+2", uid: 0, pid: 1, value: nil),
    ]

    private func entry(_ access: RouteAccess) throws -> RouteTable.Entry {
        var table = try RouteTable(schemes: ["s"], modules: [Self.module])
        let index = try table.add(.plain("x/:id", access: access), of: Self.module)
        return try #require(table[index])
    }

    /// Whether each level is reached, in the order local, authorized, public.
    private func reach(_ access: CallerAccess) throws -> [Bool] {
        let parameters = RouteParameters(["id": "7"])
        return try RouteAccess.allCases.map { level in
            let entry = try entry(level)
            let one = access.mayReach(entry, parameters)
            #expect(one == access.mayReachAll(of: entry))
            return one
        }
    }

    @Test("the host and its modules reach everything", arguments: inside)
    func local(origin: Origin) throws {
        #expect(try reach(CallerAccess(origin: origin)) == [true, true, true])
    }

    @Test("a remote caller reaches what is public", arguments: outside)
    func remote(origin: Origin) throws {
        #expect(try reach(CallerAccess(origin: origin)) == [false, false, true])
    }

    @Test("a token's scope adds what is authorized, and never what is local", arguments: outside)
    func token(origin: Origin) throws {
        let access = CallerAccess(origin: origin, grant: try .of("s://*"))
        #expect(try reach(access) == [false, true, true])
        let other = CallerAccess(origin: origin, grant: try .of("s://a.c/*"))
        #expect(try reach(other) == [false, false, true])
    }

    @Test("a token is looked up for remote callers, expired and unknown ones are none")
    func lookUp() throws {
        let tokens = try TokenStore.of(
            #"""
            [{"token": "0123456789abcdef", "name": "ci", "scopes": ["s://*"],
              "expires": "2027-01-01T00:00:00Z"}]
            """#)
        let token = RouteToken("0123456789abcdef")
        let before = WallTime(seconds: 1_798_761_599)
        let after = WallTime(seconds: 1_798_761_600)
        func name(_ origin: Origin, _ token: RouteToken?, _ now: WallTime) -> String? {
            CallerAccess(origin: origin, token: token, tokens: tokens, now: now).grant?.name
        }
        #expect(name(.push, token, before) == "ci")
        #expect(name(.push, token, after) == nil)
        #expect(name(.push, RouteToken("0123456789abcdeF"), before) == nil)
        #expect(name(.push, nil, before) == nil)
        #expect(name(.host, token, before) == nil)
    }
}

@Suite("What may not be reached answers like what does not exist")
struct UnreachableRouteTests {
    private static let module = ModuleID(checked: "a.b")
    private static let levels: [RouteAccess] = [.local, .authorized]

    private struct Asked: Decodable {
        var id: String

        /// Fails the test: nothing may be decoded for a caller who may not call.
        init(from decoder: any Decoder) throws {
            Issue.record("a request was decoded")
            id = try decoder.singleValueContainer().decode(String.self)
        }
    }

    @Sendable private static func isAsked(_: Asked) -> Bool {
        Issue.record("a predicate was asked")
        return true
    }

    private func table(secret access: RouteAccess?) throws -> RouteTable {
        var table = try RouteTable(schemes: ["s"], modules: [Self.module])
        try table.add(.plain("open/:id"), of: Self.module)
        guard let access else { return table }
        let route = Route<IdleModule>(
            "opens/:id", access: access, when: Self.isAsked
        ) { (_, _: Asked, _) in _ = Issue.record("a handler was called") }
        try table.add(AnyRoute(route), of: Self.module)
        return table
    }

    private func answer(_ text: String, of table: RouteTable) throws -> String {
        let access = CallerAccess(origin: .push, grant: try .of("s://a.b/other/*"))
        let url = try RouteURL(text)
        let found = try table.match(url) { access.mayReach($0, $1) && $0.route.accepts($1) }
        if let found { return found.entry.route.pattern.text }
        return "\(table.notFound(url) { access.mayReachAll(of: $0) })"
    }

    @Test(
        "in text: the same error with the same hint, and no hint to itself", arguments: levels,
        ["s://opens/7", "s://a.b/opens/7", "s://OPENS/7", "s://opens/7/8", "s://opent/7"])
    func text(level: RouteAccess, url: String) throws {
        let with = try answer(url, of: table(secret: level))
        #expect(with == (try answer(url, of: table(secret: nil))))
        #expect(with.hasPrefix("no route for '"))
    }

    @Test("a less specific route that may be reached answers in its place", arguments: levels)
    func nextCandidate(level: RouteAccess) throws {
        var table = try table(secret: level)
        try table.add(.plain("opens/*"), of: Self.module)
        #expect(try answer("s://opens/7", of: table) == "opens/*")
    }

    @Test("in time: an unknown token is compared with every other, like a known one")
    func comparisons() throws {
        let tokens = try TokenStore.of(
            """
            [\((0..<10).map { number in
                #"{"token": "0123456789abcde\#(number)", "name": "n\#(number)", "scopes": ["s://*"]}"#
            }.joined(separator: ", "))]
            """)
        func comparisons(_ text: String) -> (name: String?, count: Int) {
            var count = 0
            let grant = tokens.grant(for: RouteToken(text), now: WallTime(seconds: 0)) {
                count += 1
                return $0.matches($1)
            }
            return (grant?.name, count)
        }
        #expect(comparisons("0123456789abcde0") == ("n0", 10))
        #expect(comparisons("0123456789abcde9") == ("n9", 10))
        #expect(comparisons("0123456789abcdef") == (nil, 10))
        #expect(comparisons("") == (nil, 10))
    }
}
