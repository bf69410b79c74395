import Testing

@testable import ModuleHostCore

@Suite("Tokens in text")
struct TokenTextTests {
    @Test(
        "are shown by nothing but dots",
        arguments: [
            ("s://a?token=t", "s://a?token=•••"), ("s://a?token=t&x=1", "s://a?token=•••&x=1"),
            ("s://a?x=1&token=t#f", "s://a?x=1&token=•••#f"),
            ("s://a?%74ok%65n=t", "s://a?%74ok%65n=•••"), ("s://a?token=a=b", "s://a?token=•••"),
            ("s://a?token=t&token=u", "s://a?token=•••&token=•••"),
            ("no URL at all?token=t", "no URL at all?token=•••"),
            ("s://a b?%7&token=t", "s://a b?%7&token=•••"), ("s://a#?token=t", "s://a#?token=•••"),
            ("s://a?u=x://b?token=t", "s://a?u=x://b?token=•••"), ("x?é&token=é", "x?é&token=•••"),
        ])
    func hide(text: String, shown: String) {
        #expect(RouteToken.hide(in: text) == shown)
    }

    @Test(
        "leave other text alone",
        arguments: [
            "", "token=t", "s://token/token=t", "s://a?tokens=t", "s://a?Token=t", "s://a?token",
            "s://a?token=", "s://a?x=token", "a&b", "?", "s://a?token%=t",
        ])
    func leave(text: String) {
        #expect(RouteToken.hide(in: text) == text)
    }

    @Test(
        "keep their room in a line of a file, and nothing else of themselves",
        arguments: [
            (#""url": "s://a?token=abc", "x": 1"#, #""url": "s://a?token=***", "x": 1"#),
            (#""s://a?x=1&%74%6F%6B%65%6E=abc#f""#, #""s://a?x=1&%74%6F%6B%65%6E=***#f""#),
            ("s://a?token=abc&token=d", "s://a?token=***&token=*"), ("?token=", "?token="),
            ("?tokens=abc&=&token", "?tokens=abc&=&token"), ("?token=a b", "?token=* b"), ("", ""),
            ("?token=\u{E9}", "?token=**"), ("&&token=a??token=b", "&&token=*??token=*"),
        ])
    func mask(line: String, masked: String) {
        var bytes = Array(line.utf8)
        RouteToken.mask(in: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == masked)
    }

    @Test("are not shown where the line of an error is, nor where what was found is said")
    func excerpts() {
        let text = """
            {"slate": 1, "app": "a", "modules": [{"id": "a.b", "command": ["c"], "main": true}],
             "signals": {"RTMIN+1": {"event": "open-url", "url": "s://a?token=s3cret&token=s3cret"},
              "RTMIN+2": {"event": "open-url", "url": "/a?token=s3cret"},
              "RTMIN+3": {"event": "push", "payload": "s://a?token=s3cret"}}}
            """
        let rendering = Slatefile.rendering(of: Array(text.utf8)) ?? ""
        #expect(!rendering.contains("s3cret"))
        for line in [
            #"  2 |  "signals": {"RTMIN+1": {"event": "open-url", "url": "s://a?token=******&token=******"},"#,
            "slatefile.json:3:43: error: '/a?token=•••' must begin with a scheme, such as \"slate://\"",
            "slatefile.json:4:43: error: expected an object, found the string \"s://a?token=•••\"",
        ] {
            #expect(rendering.contains(line + "\n"), "\(rendering)")
        }
    }

    @Test("are not shown in part, where a long line is cut inside of one")
    func cut() {
        let token = String(repeating: "s", count: 1024)
        let text = """
            {"slate": 1, "app": "a", "modules": [{"id": "a.b", "command": ["c"], "main": true}],
             "config": {"u": "x?token=\(token)"}, "confi": 1, "v": "x?token=\(token)"}
            """
        let rendering = Slatefile.rendering(of: Array(text.utf8)) ?? ""
        #expect(rendering.contains("unknown key 'confi'") && !rendering.contains("sss"))
    }
}

@Suite("Tokens in events")
struct EventTokenTests {
    private func event(_ url: String) throws -> LifecycleEvent {
        var json = JSONWriter()
        json.object { $0.member("url", url) }
        return try LifecycleEvent(
            .openURL, payload: JSONValue(parsing: json.bytes), origin: .inbox)
    }

    @Test("a URL to open is delivered without its token, which is kept for the router")
    func taken() throws {
        let outside = try event("s://a?token=s3cret&x=1")
        let own = try LifecycleEvent.openURL("s://a?token=s3cret&x=1", origin: .host)
        for event in [outside, own, outside.from(.push)] {
            guard case .url(let url, let token) = event.content else {
                Issue.record("\(event.content)")
                continue
            }
            #expect(url.text == "s://a?x=1" && token?.matches("s3cret") == true)
            #expect(event.payload?.text == #"{"url":"s://a?x=1"}"#)
            var dumped = ""
            dump(event, to: &dumped)
            #expect(!dumped.contains("s3cret") && !"\(event)".contains("s3cret"))
        }
    }

    @Test("a URL without a token stays as it came")
    func none() throws {
        let payload = try JSONValue(parsing: #"{ "url": "s://a?\u0078=1" }"#)
        let event = try LifecycleEvent(.openURL, payload: payload, origin: .inbox)
        #expect(event.payload?.text == payload.text)
    }

    @Test(
        "a token that cannot be read for sure is refused, and not shown",
        arguments: [
            ("s://a b?token=s3cret", "byte 5 is a space; write it as %20"),
            (
                "s://a?token=s3cret&token=s3cret",
                "the query item at byte 19 is a second 'token'; give one"
            ),
        ])
    func refused(text: String, reason: String) throws {
        let error = try #require(throws: EventError.self) { try event(text) }
        #expect("\(error)" == "event 'open-url': malformed URL: \(reason)")
    }

    @Test("a signal's URL that no event could carry is an error of the slatefile")
    func signal() {
        let text = """
            {"slate": 1, "app": "a", "modules": [{"id": "a.b", "command": ["c"], "main": true}],
             "signals": {"RTMIN+1": {"event": "open-url", "url": "s://a?token=t&token=u"},
                         "RTMIN+2": {"event": "open-url", "url": "s://a?token=t"},
                         "RTMIN+3": {"event": "open-url", "url": "s://a b"}}}
            """
        #expect(
            Slatefile.diagnostics(of: text) == [
                "line 2, column 54: malformed URL: the query item at byte 14 is a second 'token'; "
                    + "give one",
                "line 4, column 54: malformed URL: byte 5 is a space; write it as %20",
            ])
    }
}
