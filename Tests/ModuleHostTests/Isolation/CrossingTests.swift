import TestSupport
import Testing

@testable import ModuleHostCore

/// The errors that a Swift module in a process of its own receives for what does not cross.
@Suite("Swift modules in a process of their own: what does not cross", .timeLimit(.minutes(10)))
struct CrossingTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        var event: EventKind = .push
        /// What it does in the event.
        let act: Probe.Act
        let error: String
    }

    private static let objects =
        "it runs in a process of its own, which objects do not reach: 'd', 'v'"
    private static let service =
        "service 'PingResponder' is in another process than this module: give it a façade and declare it "
        + "in 'usedServices', call an action, or leave \"isolation\" out"
    private static let registration =
        "service 'PingResponder' cannot be registered in a process of its own: declare it as a "
        + "ServiceProvider, with a façade, or keep the module in the host by \"isolation\": \"none\""
    private static let hold =
        "a module in a process of its own cannot hold a step: do the work before you return, "
        + "or leave \"isolation\" out"

    static let rows = [
        Row(
            testDescription: "objects beside a call",
            act: {
                _ = try $0.context.mediator.perform(
                    "x.b", "do", userInfo: ["v": 1, "d": 2])
            }, error: objects),
        Row(
            testDescription: "objects beside a URL",
            act: { _ = try $0.context.router.open("test://x.b/do", userInfo: ["v": 1, "d": 2]) },
            error: objects),
        Row(
            testDescription: "a service that it provides",
            act: { module in
                try module.context.services.register((any PingResponder).self) { module }
            }, error: registration),
        Row(
            testDescription: "a service of another",
            act: { try $0.context.services.call((any PingResponder).self) { _ in } },
            error: service),
        Row(
            testDescription: "a hold", event: .background, act: { _ = try $0.context.hold("x") },
            error: hold),
        Row(
            testDescription: "a hold at the end", event: .terminate,
            act: { _ = try $0.context.hold("x") }, error: hold),
    ]

    @Test("throws, and its host receives the error", arguments: rows)
    func throwing(row: Row) throws {
        let probe = Probe()
        probe.when("a \(row.event.rawValue)", row.act)
        let module = try LedModule(probe: probe)
        #expect(try module.notify(.launch) == nil)
        #expect(
            try module.notify(row.event, row.event == .push ? #"{"aps":{}}"# : nil) == row.error)
        try module.end()
    }

    @Test("a service with a façade does, as a call of its provider")
    func facade() throws {
        let module = try LedModule(
            "TimeUser", probe: Probe(),
            providers: #"[{"module":"x.time","entry":"ModuleHostTests.TimeProvider"}]"#)
        let number = try module.request(
            "call", #"{"action":"time","from":{"kind":"host"},"parameters":{}}"#)
        let (request, id) = try module.nextRequest()
        #expect(request.method == "call")
        #expect(request.parameters?["module"]?.string == "x.time")
        #expect(request.parameters?["action"]?.string == "now")
        try module.send(#""id":\#(id.text),"result":{"reply":7}"#)
        #expect(try module.answer(to: number).int == 7)
        try module.end()
    }

    @Test("one without a provider that the host names, or without a façade there, does not")
    func noFacade() throws {
        let entries = ["PlainProvider", "CallProbe", "NoSuchModule"]
        for providers in ["[]"]
            + entries.map({
                #"[{"module":"x.time","entry":"ModuleHostTests.\#($0)"}]"#
            })
        {
            #expect {
                try LedModule("TimeUser", probe: Probe(), providers: providers)
            } throws: {
                "\($0)".contains("service 'TimeService' is in another process than this module")
            }
        }
    }

    @Test("an asynchronous handler's answer crosses when it comes, and its error")
    func later() throws {
        let probe = Probe()
        let module = try LedModule("LateProbe", probe: probe)
        LateProbe.promise("one", of: probe).keep("done")
        LateProbe.promise("two", of: probe).keep("throw")
        #expect(
            try module.ask(
                "call",
                #"{"action":"await","from":{"kind":"host"},"origin":"host","parameters":{"name":"one"}}"#
            ).string == "done host")
        #expect {
            try module.ask(
                "call",
                #"{"action":"await","from":{"kind":"host"},"origin":"host","parameters":{"name":"two"}}"#
            )
        } throws: { "\($0)".contains("broken") }
        try module.end()
    }

    private static let host = #""from":{"kind":"host"},"origin":"host""#

    @Test("a call that is cancelled is answered, and its handler's task is cancelled")
    func cancelled() async throws {
        let probe = Probe()
        let module = try LedModule("LateProbe", probe: probe)
        let call = try module.request(
            "call", #"{"action":"await",\#(Self.host),"parameters":{"name":"one"}}"#)
        // Nobody knows these.
        try module.send(#""method":"cancel","params":{"id":4711}"#)
        try module.send(#""method":"cancel","params":{}"#)
        try module.send(#""method":"cancel","params":{"id":\#(call)}"#)
        #expect(throws: RPCError.self) { try module.answer(to: call) }
        LateProbe.promise("one", of: probe).keep("done")
        await probe.reached("resume one cancelled")
        try module.end()
    }

    @Test("an asynchronous handler waits for the host's answers, and others are called meanwhile")
    func awaiting() throws {
        let module = try LedModule("LateProbe", probe: Probe())
        let call = try module.request(
            "call", #"{"action":"ask",\#(Self.host),"parameters":{"name":"one"}}"#)
        let (first, id) = try module.nextRequest()
        #expect(first.method == "call")
        #expect(
            first.parameters?.text
                == #"{"module":"x.l","action":"await","parameters":{"name":"one"}}"#)
        #expect(try module.ask("call", #"{"action":"count",\#(Self.host)}"#).int == 0)
        try module.send(#""id":\#(id.text),"result":{"reply":"first"}"#)
        let (second, nextID) = try module.nextRequest()
        #expect(second.parameters?.text == #"{"url":"app://x.l/at-once"}"#)
        try module.send(
            #""id":\#(nextID.text),"error":{"code":-32001,"message":"no route","data":"app://x"}"#)
        #expect {
            try module.answer(to: call)
        } throws: { "\($0)".contains("no route for 'app://x.l/at-once'") }
        try module.end()
    }

    @Test(
        "a request without its origin is refused: it is not taken for the host's own",
        arguments: [
            ("event", #""event":"push","payload":{"aps":{}}"#),
            ("call", #""action":"none""#),
        ], ["", #","origin":"host""#, #","from":"host""#, #","from":{"kind":"hosts"}"#])
    func missingOrigin(request: (method: String, parameters: String), origin: String) throws {
        let probe = Probe()
        let module = try LedModule(probe: probe)
        let error = try #require(throws: RPCError.self) {
            try module.ask(request.method, "{\(request.parameters)\(origin)}")
        }
        #expect(error == .invalidParameters("'from' is missing, or is not an origin"))
        #expect(probe.entries("a push") == [])
        try module.end()
    }

    @Test("it receives the origin of an event")
    func origins() throws {
        let probe = Probe()
        probe.when("a push") { module in
            probe.note("from \(module.context.event.map { "\($0.origin)" } ?? "unknown")")
        }
        let module = try LedModule(probe: probe)
        let origins: [Origin] = [
            .host, .inbox, .control(uid: 1000, pid: 4711), .local(ModuleID(checked: "x.b")),
            .signal(name: "RTMIN+1", uid: nil, pid: 3, value: -1),
        ]
        for origin in origins {
            var json = JSONWriter()
            json.value(origin)
            let value = String(decoding: json.bytes, as: UTF8.self)
            try module.ask(
                "event", #"{"event":"push","payload":{"aps":{}},"origin":"x","from":\#(value)}"#)
        }
        #expect(probe.entries.filter { $0.hasPrefix("from ") } == origins.map { "from \($0)" })
        try module.end()
    }

    @Test("a typed message reaches it alone, and a slatefile goes to the host")
    func others() async throws {
        let probe = Probe()
        probe.when("a push") { module in
            let report = module.context.center.send(to: (any PingResponder).self) {
                try $0.ping("hello")
            }
            probe.note("report: \(report.delivered), \(report.failed), \(report.overdue)")
            module.context.host.apply(slatefile: "{}", probation: .seconds(2)) { result in
                guard case .failure(let error) = result else { return }
                probe.note("refused: \(error)")
            }
        }
        let module = try LedModule(probe: probe)
        #expect(try module.notify(.launch) == nil)
        let push = try module.request(
            "event", #"{"event":"push","payload":{"aps":{}},"from":{"kind":"host"}}"#)
        let (request, id) = try module.nextRequest()
        #expect(request.method == "apply")
        #expect(request.parameters?.text == #"{"slatefile":"{}","probationMs":2000}"#)
        _ = try module.answer(to: push)
        #expect(probe.entries("report:") == ["report: 1, 0, 0"])
        try module.send(#""id":\#(id.text),"error":{"code":-32002,"message":"it may not"}"#)
        await probe.reached("refused: it may not")
        try module.end()
    }
}
