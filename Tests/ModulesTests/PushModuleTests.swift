import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("PushModule", .timeLimit(.minutes(10)))
struct PushModuleTests {
    /// Whether the module runs in a process of its own.
    static let places = [false, true]

    private func slatefile(config: String = "{}", isolated: Bool = false) -> String {
        ModulesTests.slatefile(
            "com.mm.push", "Modules.PushModule", config: config, isolated: isolated,
            rest: #", "schemes": ["slate"]"#,
            others: #", { "id": "com.mm.target", "entry": "ModulesTests.PushTarget" }"#)
    }

    private func opened(_ app: TestHost) async throws -> [String] {
        try await app.module(PushTarget.self) { $0.opened }
    }

    @Test(
        "what is new in a notification decides the reply",
        arguments: [
            (#"{ "aps": { "content-available": 1 } }"#, "1 module, noData"),
            (#"{ }"#, "1 module, noData"),
            (#"{ "aps": { "content-available": 1 }, "uri": null }"#, "1 module, noData"),
            (#"{ "aps": { "alert": "Hello" } }"#, "1 module, newData"),
            (#"{ "aps": { "badge": 0 } }"#, "1 module, newData"),
            (#"{ "uri": "slate://page/1" }"#, "1 module, newData"),
            (#"{ "aps": { "content-available": 1 }, "uri": "a:b" }"#, "1 module, failed"),
            (#"{ "aps": { "alert": "Hello" }, "uri": "a:b" }"#, "1 module, newData"),
            (#"{ "aps": { "badge": 0 }, "uri": "" }"#, "1 module, newData"),
            (#"{ "uri": 5 }"#, "0 modules, 1 failed, failed"),
        ])
    func replies(payload: String, expected: String) async throws {
        for place in Self.places {
            try await TestHost.run(
                slatefile: slatefile(isolated: place), .init(executable: "hostd")
            ) { app in
                try await app.deliver(.push, payload)
                #expect(app.outcome(of: .push) == expected, "isolated: \(place)")
                let isHere = (try? await app.module(PushModule.self) { _ in true }) ?? false
                #expect(isHere == !place)
            }
        }
    }

    @Test("the badge count is what the last notification with one said")
    func badge() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            func badge() async throws -> UInt { try await app.module(PushModule.self) { $0.badge } }
            #expect(try await badge() == 0)
            try await app.deliver(.push, #"{ "aps": { "badge": 3 } }"#)
            #expect(try await badge() == 3)
            try await app.deliver(.push, #"{ "aps": { "alert": "no badge" } }"#)
            #expect(try await badge() == 3)
            for kind in [EventKind.background, .foreground, .resignActive, .activate] {
                try await app.deliver(kind)
            }
            #expect(try await badge() == 3)
            try await app.deliver(.push, #"{ "aps": { "badge": 0 } }"#)
            #expect(try await badge() == 0)
        }
    }

    @Test("the URI is opened as by a push; the log shows neither its rest nor the alert")
    func uri() async throws {
        for place in Self.places {
            try await TestHost.run(
                slatefile: slatefile(isolated: place), .init(executable: "hostd")
            ) { app in
                try await app.deliver(
                    .push,
                    #"{ "aps": { "alert": "s3cret" }, "uri": "slate://com.mm.target/page/7?a=s3cret&token=s3cret" }"#
                )
                #expect(
                    try await opened(app) == ["7 by push: slate://com.mm.target/page/7?a=s3cret"])
                #expect(app.messages(of: "com.mm.push") == ["opened slate://com.mm.target/…"])
                #expect(!app.log.messages.contains { $0.contains("s3cret") })
            }
        }
    }

    @Test(
        "a URI that cannot be opened is a warning that says why, and nothing of the URI; the badge counts",
        arguments: [
            (
                "slate://com.mm.target/local/s3cret",
                " slate://com.mm.target/…: no route that a push can reach"
            ),
            (
                "slate://com.mm.target/authorized?token=s3cret",
                " slate://com.mm.target/…: no route that a push can reach"
            ),
            (
                "slate://com.mm.target/none/s3cret",
                " slate://com.mm.target/…: no route that a push can reach"
            ),
            (
                "https://www.example.com/s3cret",
                " https://www.example.com/…: no route that a push can reach"
            ),
            ("slate://page/s3cret", " slate://page/…: the route refuses parameter 'number'"),
            (
                "slate://page/1?page=2&number=s3cret&flag=s3cret",
                " slate://page/…: the route refuses parameter 'flag'"
            ),
            ("slate://throws/s3cret", " slate://throws/…: out of order"),
            ("slate:/throws/s3cret", " slate:…: out of order"),
            ("slate://s3cret s3cret", " a URI: malformed URL: byte 14 is a space; write it as %20"),
            (
                "s3cret",
                " a URI: malformed URL: it begins with no scheme, such as the slate of slate://userInfo"
            ),
        ])
    func unreachable(uri: String, reason: String) async throws {
        for place in Self.places {
            try await TestHost.run(
                slatefile: slatefile(isolated: place), .init(executable: "hostd")
            ) { app in
                try await app.deliver(.push, #"{ "aps": { "badge": 3 }, "uri": "\#(uri)" }"#)
                #expect(
                    app.messages(of: "com.mm.push") == ["badge count is 3", "cannot open\(reason)"])
                #expect(app.log.records.last { $0.module == "com.mm.push" }?.level == .warning)
                #expect(try await opened(app) == [])
                #expect(app.outcome(of: .push) == "1 module, newData")
                #expect(!app.log.messages.contains { $0.contains("s3cret") })
            }
        }
    }

    @Test("a push with a token in its URI reaches what the token covers")
    func token() async throws {
        let token = "0123456789abcdef"
        let tokens = ModulesTests.tokens(token, for: "slate://com.mm.target/authorized")
        for place in Self.places {
            try await TestHost.run(
                slatefile: slatefile(isolated: place), .init(tokens: tokens, executable: "hostd")
            ) { app in
                for (path, message) in [
                    ("authorized", "opened slate://com.mm.target/…"),
                    (
                        "local/a",
                        "cannot open slate://com.mm.target/…: no route that a push can reach"
                    ),
                ] {
                    let uri = "slate://com.mm.target/\(path)?token=\(token)"
                    try await app.deliver(.push, #"{ "uri": "\#(uri)" }"#)
                    #expect(app.messages(of: "com.mm.push").last == message)
                }
            }
        }
    }

    @Test("the key of the URI is a setting")
    func uriKey() async throws {
        for place in Self.places {
            try await TestHost.run(
                slatefile: slatefile(config: #"{ "uriKey": "link" }"#, isolated: place),
                .init(executable: "hostd")
            ) { app in
                try await app.deliver(
                    .push, #"{ "uri": "slate://page/1", "link": "slate://page/2" }"#)
                #expect(try await opened(app) == ["2 by push: slate://page/2"])
            }
        }
    }

    @Test(
        "a URI that is no string is an error that names key and type; the badge counts",
        arguments: [
            ("5", "a number"), ("true", "true or false"), (#"["slate://a"]"#, "an array"),
            (#"{ "s3cret": 1 }"#, "an object"),
        ])
    func oddURI(value: String, type: String) async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            try await app.deliver(.push, #"{ "aps": { "badge": 2 }, "uri": \#(value) }"#)
            #expect(
                app.messages(of: "com.mm.push") == [
                    "badge count is 2",
                    "failed: 'uri' of the notification must be a string; it is \(type)",
                ])
        }
    }

    @Test("the device token is kept, and logged shortened")
    func registration() async throws {
        try await TestHost.run(slatefile: slatefile()) { app in
            let token = "00112233445566778899aabbccddeeff"
            try await app.deliver(.pushRegistered, #"{ "deviceToken": "\#(token)" }"#)
            #expect(
                try await app.module(PushModule.self) { $0.deviceToken?.deviceToken } == token)
            try await app.deliver(.pushRegistrationFailed, #"{ "error": "no network" }"#)
            #expect(try await app.module(PushModule.self) { $0.deviceToken == nil } == true)
            #expect(
                app.messages(of: "com.mm.push") == [
                    "registered for push, device token 00112233…",
                    "the push service refused this device: no network",
                ])
        }
    }

    @Test(
        "as much of a URI is shown as holds no secret",
        arguments: [
            ("slate://com.mm.community/userInfo?token=1", "slate://com.mm.community/…"),
            ("slate://userInfo?token=1", "slate://userInfo/…"),
            ("slate://userInfo#token", "slate://userInfo/…"),
            ("https://user:password@example.com/", "a URI"),
            ("slate://", "slate:…"), ("slate:/token", "slate:…"), ("token", "a URI"),
            ("", "a URI"),
            (
                "slate://" + String(repeating: "a", count: 100),
                "slate://" + String(repeating: "a", count: 64) + "/…"
            ),
        ])
    func publicPart(uri: String, shown: String) {
        #expect(PushModule.publicPart(of: uri) == shown)
    }

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (#"{ "uriKey": 5 }"#, "/uriKey: expected a string, found the number 5"),
            (#"{ "urikey": "" }"#, "/urikey: unknown key 'urikey'; did you mean 'uriKey'?"),
        ])
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/1/config\(message)"])
    }
}

/// A module with routes of each kind.
final class PushTarget: RoutedModule {
    struct Page: Decodable, Sendable {
        var number: Int
        var flag: Bool?
    }

    struct OutOfOrder: Error, CustomStringConvertible {
        let description = "out of order"
    }

    private(set) var opened: [String] = []

    init(context: ModuleContext) {}

    static var routes: [Route<PushTarget>] {
        [
            Route("page/:number", access: .public) { (module, page: Page, call) in
                module.opened.append("\(page.number) by \(call.origin): \(call.url?.text ?? "")")
            },
            Route("throws/*", access: .public) { (_, _) in throw OutOfOrder() },
            Route("authorized", access: .authorized) { (_, _) in },
            Route("local/*") { (_, _) in },
        ]
    }
}
