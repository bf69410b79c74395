import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("URI document")
struct URIDocumentTests {
    enum Style: String, CaseIterable, Decodable, Sendable { case plain, bold }

    struct Posts: Decodable, Sendable {
        var name: String
        var page: Int?
        var style: Style?
    }

    /// A small app: two modules, a route of each access, one with everything and one with nothing.
    static func document(summary: String = "What a user wrote.") throws -> URIDocument {
        let (user, shop) = (ModuleID(checked: "com.mm.user"), ModuleID(checked: "com.mm.shop"))
        var table = try RouteTable(schemes: ["slate"], modules: [user, shop], fallback: shop)
        try table.add(
            AnyRoute(
                Route<IdleModule>("user/:name/posts", access: .public, summary: summary) {
                    (_, _: Posts, _) in [1]
                }), of: user)
        try table.add(
            AnyRoute(
                Route<IdleModule>("sign-out", action: "signOut", access: .authorized) { _, _ in }),
            of: user)
        try table.add(AnyRoute(Route<IdleModule>("https://*path") { _, _ in }), of: shop)
        return URIDocument(table, app: "demo")
    }

    @Test("text: a table for a terminal")
    func text() throws {
        let text = try Self.document().rendered(as: .text)
        #expect(
            text == """
                module       route             access      reply
                com.mm.user  user/:name/posts  public      [Int]
                               What a user wrote.
                               parameters name: String, page: Int?, style: (plain|bold)?
                               slate://com.mm.user/user/mia/posts?page=1&style=plain
                             sign-out          authorized
                               action signOut
                               slate://com.mm.user/sign-out
                com.mm.shop  https://*path     local
                               parameters path: [String]
                               https://www.example.com/page

                """)
    }

    @Test("json: the shape that is documented")
    func json() throws {
        let parameter = { (name: String, place: String, rest: String) in
            #"{"name":"\#(name)","in":"\#(place)",\#(rest)}"#
        }
        let expected =
            #"{"app":"demo","schemes":["slate"],"fallback":"com.mm.shop","routes":["#
            + #"{"module":"com.mm.user","pattern":"user/:name/posts","action":"user/:name/posts","#
            + #""access":"public","summary":"What a user wrote.","parameters":["#
            + parameter(
                "name", "path",
                #""type":"String","expects":"text","values":[],"required":true,"list":false"#) + ","
            + parameter(
                "page", "query",
                #""type":"Int","expects":"a whole number","values":[],"required":false,"#
                    + #""list":false"#) + ","
            + parameter(
                "style", "query",
                #""type":"Style","expects":"one of 'plain', 'bold'","values":["plain","bold"],"#
                    + #""required":false,"list":false"#)
            + #"],"partial":false,"reply":"[Int]","#
            + #""answersLater":false,"deadlineMs":null,"#
            + #""example":"slate://com.mm.user/user/mia/posts?page=1&style=plain"},"#
            + #"{"module":"com.mm.user","pattern":"sign-out","action":"signOut","#
            + #""access":"authorized","summary":"","parameters":[],"partial":false,"reply":null,"#
            + #""answersLater":false,"deadlineMs":null,"#
            + #""example":"slate://com.mm.user/sign-out"},"#
            + #"{"module":"com.mm.shop","pattern":"https://*path","action":"https://*path","#
            + #""access":"local","summary":"","parameters":["#
            + parameter(
                "path", "path",
                #""type":null,"expects":"any number of segments","values":[],"required":true,"#
                    + #""list":true"#)
            + #"],"partial":false,"reply":null,"answersLater":false,"deadlineMs":null,"#
            + #""example":"https://www.example.com/page"}]}"#
        #expect(try Self.document().rendered(as: .json) == expected + "\n")
    }

    @Test("markdown: a table for each module")
    func markdown() throws {
        let markdown = try Self.document(summary: "a|b <i>*c*</i>").rendered(as: .markdown)
        #expect(
            markdown == #"""
                # URIs of demo

                3 routes of 2 modules, as the command `routes --format markdown` writes them.

                ## com.mm.user

                | Route | Access | Parameters | Reply | Example |
                |---|---|---|---|---|
                | `user/:name/posts`<br>a\|b &lt;i&gt;\*c\*&lt;/i&gt; | public | `name: String`<br>`page: Int?`, in the query<br>`style: (plain\|bold)?`, in the query | `[Int]` | `slate://com.mm.user/user/mia/posts?page=1&style=plain` |
                | `sign-out`<br>action `signOut` | authorized | | | `slate://com.mm.user/sign-out` |

                ## com.mm.shop

                | Route | Access | Parameters | Reply | Example |
                |---|---|---|---|---|
                | `https://*path` | local | `path: [String]` | | `https://www.example.com/page` |

                """#)
    }

    @Test("a route that answers later says so, with its deadline, in every format")
    func answersLater() throws {
        let shop = ModuleID(checked: "com.mm.shop")
        var table = try RouteTable(schemes: ["slate"], modules: [shop])
        for route in [
            Route<IdleModule>("price", deadline: .seconds(10)) { (_, _) async throws in 1 },
            Route<IdleModule>("approval") { (_, _, _: Reply<Int>) in },
        ] { try table.add(AnyRoute(route), of: shop) }
        let document = URIDocument(table, app: "demo")
        #expect(
            document.rendered(as: .text).split(separator: "\n").filter { $0.contains("later") }
                .map { $0.drop { $0 == " " } } == ["answers later, within 10s", "answers later"])
        let markdown = document.rendered(as: .markdown)
        #expect(markdown.contains("| `price`<br>answers later, within 10s |"))
        #expect(markdown.contains("| `approval`<br>answers later |"))
        #expect(document.rendered(as: .html).contains("<p>answers later, within 10s</p>"))
        let json = document.rendered(as: .json)
        #expect(json.contains(#""answersLater":true,"deadlineMs":10000,"#))
        #expect(json.contains(#""answersLater":true,"deadlineMs":null,"#))
    }

    @Test("html: one page, a row for each route, and nothing from elsewhere")
    func html() throws {
        let html = try Self.document().rendered(as: .html)
        let row = """
            <tr class="route" role="row"><th scope="row" role="rowheader">\
            <code>user/<i>:name</i>/posts</code><p>What a user wrote.</p></th>\
            <td role="cell" data-label="Access"><b class="public">public</b></td>\
            <td role="cell" data-label="Parameters"><ul>\
            <li><code>name: <i>String</i></code></li>\
            <li><code>page: <i>Int</i></code> <span>a whole number, optional</span></li>\
            <li><code>style: <i>Style</i></code> \
            <span>one of &#39;plain&#39;, &#39;bold&#39;, optional</span></li></ul></td>\
            <td role="cell" data-label="Reply"><code>[Int]</code></td>\
            <td role="cell" data-label="Example"><code class="url">\
            slate://com.mm.user/user/mia/posts?page=1&amp;style=plain</code></td></tr>

            """
        #expect(html.contains(row))
        #expect(html.split(separator: "<tr class=\"route\"").count == 4)
        #expect(html.split(separator: "<tr class=\"module\"").count == 3)
        for word in [" src=", "url(", "@import", "<img", "<iframe", "fetch(", "href=\"http"] {
            #expect(!html.contains(word), "\(word)")
        }
    }

    @Test("what is hostile in a name or a summary is text in every format")
    func hostile() throws {
        let attack =
            "</style><script>alert(1)</script>\"' onload=x `|` [a](b:c) \u{1B}[2J\u{202E}\n#"
        let module = ModuleID(checked: "com.<script>.mm")
        var table = try RouteTable(schemes: ["slate"], modules: [module])
        try table.add(
            AnyRoute(
                Route<IdleModule>("a'b&c/:a", access: .public, summary: attack) { _, _ in }),
            of: module)
        let document = URIDocument(table, app: attack)
        let html = document.rendered(as: .html)
        #expect(html.split(separator: "<script>").count == 2)
        #expect(html.split(separator: "</style>").count == 2)
        #expect(html.contains("<p>&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; "))
        #expect(html.contains(">com.&lt;script&gt;.mm</th>"))
        #expect(html.contains("<code>a&#39;b&amp;c/<i>:a</i></code>"))
        let markdown = document.rendered(as: .markdown)
        #expect(!markdown.contains("<script>alert") && !markdown.contains("[a](b:c)"))
        #expect(
            markdown.contains(
                #"&lt;script&gt;alert(1)&lt;/script&gt;"' onload=x \`\|\` \[a\](b:c) "#))
        for format in URIDocument.Format.allCases where format != .json {
            let text = document.rendered(as: format)
            #expect(!text.unicodeScalars.contains("\u{1B}") && !text.contains("\u{202E}"))
        }
        let json = try JSONValue(parsing: document.rendered(as: .json))
        let routes = Array(try #require(json["routes"]).elements)
        #expect(routes.map { $0["summary"]?.string } == [attack])
    }

    @Test("an app without routes has a document too")
    func empty() throws {
        let table = try RouteTable(schemes: [], modules: [])
        let document = URIDocument(table, app: "demo")
        #expect(document.rendered(as: .text) == "no module of 'demo' has routes\n")
        #expect(
            document.rendered(as: .json)
                == #"{"app":"demo","schemes":[],"fallback":null,"routes":[]}"# + "\n")
        #expect(
            document.rendered(as: .markdown).hasPrefix("# URIs of demo\n\n0 routes of 0 modules"))
        #expect(document.rendered(as: .html).contains("<p>No module has routes.</p>"))
    }

    @Test(
        "types are written as one would",
        arguments: [
            ("Int", "Int"), ("Array<Post>", "[Post]"), ("Optional<Post>", "Post?"),
            ("Array<Optional<Array<Int>>>", "[[Int]?]"), ("Array<", "Array<"),
            ("Dictionary<String, Int>", "Dictionary<String, Int>"),
        ])
    func spelling(type: String, written: String) {
        #expect(swiftSpelling(type) == written)
    }

    @Test("the control socket gives each format", arguments: URIDocument.Format.allCases)
    func controlMethod(format: URIDocument.Format) throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path("state"))
        let claim = try PidFile(claiming: directory)
        defer { withExtendedLifetime(claim) {} }
        let document = try Self.document()
        let table = try RouteTable(schemes: ["slate"], modules: [])
        var methods = ControlMethods()
        methods.add(routesOf: "demo") { $0(.success(table)) }
        let server = try ControlServer(
            in: directory, methods: methods, tail: TailHub(), log: LogRecorder().log)
        try server.start()
        defer { server.stop() }
        let client = try HostClient(to: directory)
        let reply = try client.call("routes") {
            $0.object { $0.member("format", format.rawValue) }
        }
        let expected = URIDocument(table, app: "demo").rendered(as: format)
        #expect((format == .json ? reply.text + "\n" : reply.string) == expected)
        #expect(expected != document.rendered(as: format))
        let error = #expect(throws: HostClientError.self) {
            _ = try client.call("routes") { $0.object { $0.member("format", "pdf") } }
        }
        #expect(
            "\(try #require(error))"
                == "Invalid params: /format: expected one of 'text', 'json', 'markdown', 'html', "
                + "found 'pdf'")
    }

    /// A request that takes its time to be described.
    private struct Slow: Decodable, Sendable {
        static let decodings = LockedList<Void>()
        static let door = Door()

        init(from decoder: any Decoder) throws {
            Self.decodings.append(())
            Self.door.pass()
        }
    }

    @Test("those who ask while a document is made share the next")
    func shared() async throws {
        let module = ModuleID(checked: "com.mm.user")
        var table = try RouteTable(schemes: ["slate"], modules: [module])
        try table.add(
            AnyRoute(Route<IdleModule>("slow") { (_, _: Slow, _) in }), of: module)
        let asked = table
        var methods = ControlMethods()
        methods.add(routesOf: "demo") { $0(.success(asked)) }
        let routes = try #require(methods["routes"])
        let answers = AsyncStream<[UInt8]>.makeStream()
        var session = RPCSession(limits: .init())
        session.receive(
            Array((#"{"jsonrpc":"2.0","id":1,"method":"routes"}"# + "\n").utf8)[...])
        var tickets: [RPCSession.Ticket] = []
        _ = session.takeLines(upTo: 1) { tickets.append($1) }
        let ticket = try #require(tickets.first)
        for _ in 0..<1000 {
            routes(
                ControlMethods.Call(
                    peer: SocketPeer(processID: 1, userID: 0, groupID: 0), parameters: nil,
                    reply: RPCReply(to: ticket) { answers.continuation.yield($1) }))
        }
        Slow.door.open()
        var count = 0
        for await answer in answers.stream {
            #expect(String(decoding: answer, as: UTF8.self).contains(#""pattern":"slow""#))
            count += 1
            if count == 1000 { break }
        }
        let decodings = Slow.decodings.takeAll().count
        _ = URIDocument(asked, app: "demo")
        // One document for the thread that came first, and one for all the others.
        #expect(decodings <= 2 * Slow.decodings.takeAll().count)
    }
}
