import TestSupport
import Testing

@testable import ModuleHostCore

/// The trace of an event or a call: messages, events and calls of a module that handles it are a part of it.
@Suite("Traces", .timeLimit(.minutes(2)))
struct TraceTests {
    private static let text = TraceContextTests.text
    private static let trace = TraceContext(text)

    private func push(_ trace: TraceContext? = trace) throws -> LifecycleEvent {
        try LifecycleEvent(
            .push, payload: try JSONValue(parsing: #"{"aps":{}}"#), origin: .host
        ).traced(by: trace)
    }

    @Test("an event: messages, calls, what these call, and results that come later")
    func event() async throws {
        let probe = Probe()
        let test = try HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b", type: "CallProbe"),
                HostUnderTest.Entry(name: "c", config: #""topics": ["t.c"]"#),
            ], probe: probe)
        _ = try await test.launched()
        probe.when("a push") { module in
            let context = module.context
            probe.note("a traced \(context.traceparent == Self.text)")
            try context.post("t.c")
            try context.mediator.perform("x.b", "act")
            context.mediator.perform("x.b", "act") { _ in
                probe.note("a answered \(context.traceparent ?? "by none")")
            }
        }
        probe.whenCalled("b act") { module, _ in
            probe.note("b called \(module.context.traceparent ?? "by none")")
            return ""
        }
        probe.when("c message") { module in
            probe.note("c heard \(module.context.event?.traceparent ?? "by none")")
        }
        test.host.deliver(try push())
        await probe.reached("a answered \(Self.text)")
        await test.settled()
        #expect(probe.entries("traced") == ["a traced true"])
        #expect(probe.entries("called") == Array(repeating: "b called \(Self.text)", count: 2))
        #expect(probe.entries("heard") == ["c heard \(Self.text)"])
        // The next event is not a part of it.
        test.host.deliver(try push(nil))
        await probe.reached("a answered by none")
        await test.settled()
        #expect(probe.entries("called").suffix(2) == ["b called by none", "b called by none"])
        #expect(probe.entries("heard").last == "c heard by none")
        #expect(await test.stopped() == .stopped)
    }

    @Test("the result of work off the lane")
    func work() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        probe.when("a push") { module in
            let context = module.context
            try context.perform("quick") {
                1
            } then: { _ in
                probe.note("a took it in \(context.traceparent ?? "none")")
            }
            try context.perform("async") { () async throws -> String in
                TraceContext.current?.text ?? "none"
            } then: {
                probe.note("a worked in \($0)")
            }
        }
        test.host.deliver(try push())
        await probe.reached("a took it in \(Self.text)")
        await probe.reached("a worked in \(Self.text)")
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a module that has lost the lane, in the event that it handles and in those that it missed")
    func overdue() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let door = Door()
        let isFirst = LockedList<Bool>()
        probe.when("a push") { module in
            if isFirst.values.isEmpty {
                isFirst.append(false)
                door.pass()
            }
            probe.note("a in \(module.context.traceparent ?? "none")")
        }
        test.host.deliver(try push())
        await probe.reached("a push")
        test.overrun()
        await probe.reached("b push")
        test.host.deliver(try push(nil))
        test.host.deliver(try push())
        await test.settled()
        door.open()
        await test.caughtUp()
        #expect(probe.entries("in") == ["a in \(Self.text)", "a in none", "a in \(Self.text)"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a call from outside, also to a route that answers later")
    func call() async throws {
        let probe = Probe()
        let test = try HostUnderTest(
            [
                HostUnderTest.Entry(name: "b", type: "CallProbe"),
                HostUnderTest.Entry(name: "l", type: "LateProbe"),
                HostUnderTest.Entry(name: "c"),
            ], probe: probe)
        _ = try await test.launched()
        probe.whenCalled("b act") { module, _ in
            try module.context.post("from.act")
            return module.context.traceparent ?? "none"
        }
        probe.when("c message") { module in
            probe.note("c heard \(module.context.traceparent ?? "none")")
        }
        let answer = Promise<String>()
        test.host.call(
            "x.b", "act", RouteParameters(), origin: .host, token: nil, trace: Self.trace
        ) {
            answer.keep("\($0)")
        }
        #expect(await answer.value.contains("success"))
        await test.settled()
        #expect(probe.entries("heard") == ["c heard \(Self.text)"])
        let later = Promise<String>()
        test.host.call(
            "x.l", "traced", RouteParameters(["name": "z"]), origin: .host, token: nil,
            trace: Self.trace
        ) { result in
            if case .success(.json(let json)) = result {
                later.keep(String(decoding: json, as: UTF8.self))
            } else {
                later.keep("\(result)")
            }
        }
        await probe.reached("await z")
        await test.settled()
        LateProbe.promise("z", of: probe).keep("")
        #expect(await later.value == #""\#(Self.text)""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("asynchronous handlers, each in its own, also behind a suspension")
    func asynchronous() async throws {
        let probe = Probe()
        let test = try HostUnderTest(
            [
                HostUnderTest.Entry(name: "b", type: "CallProbe"),
                HostUnderTest.Entry(name: "a", type: "AsyncProbe"),
                HostUnderTest.Entry(name: "d", type: "AsyncProbe"),
            ], probe: probe)
        _ = try await test.launched()
        probe.whenCalled("b act") { module, _ in
            probe.note("b called \(module.context.traceparent ?? "by none")")
            return ""
        }
        let message = try LifecycleEvent.message(topic: "t", payload: nil, origin: .host)
        test.host.deliver(message.traced(by: Self.trace))
        await probe.reached("a message")
        // The lane has gone on, with something that is in no trace.
        await test.settled()
        AsyncProbe.give("act", to: "message", of: probe)
        await probe.reached("b called \(Self.text)")
        #expect(await test.stopped() == .stopped)
    }

    @Test("an event of the inbox, with what it sends, keeps it for the next host")
    func durable() async throws {
        let folder = try TemporaryFolder()
        let line = InboxRecord.line(
            .push, payload: try JSONValue(parsing: #"{"aps":{}}"#), id: "one", trace: Self.trace)
        let record = try InboxRecord(parsing: line[...])
        #expect(record.trace == Self.trace)
        #expect(try InboxRecord(parsing: record.lineForRetry()[...]).trace == Self.trace)
        // It does not count when ids are compared.
        let other = try InboxRecord(
            parsing: InboxRecord.line(.push, payload: record.payload, id: "one")[...])
        #expect(record.hasSameContents(as: other))
        let probe = Probe()
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        probe.when("a push") { module in
            probe.note("a in \(module.context.traceparent ?? "none")")
        }
        _ = try await test.launched()
        let done = Promise<Bool>()
        test.inbox?.submit(
            InboxSubmission(line: line, id: "one", onAcceptance: { _ in }) { _ in done.keep(true) })
        #expect(await done.value)
        #expect(probe.entries("in") == ["a in \(Self.text)"])
        #expect(test.recorder.records.contains { $0.fields.contains { $0.name == "trace" } })
        #expect(await test.stopped() == .stopped)
    }

    @Test("a record whose trace is none is refused, with what it should be")
    func invalidRecord() throws {
        let line = Array(#"{"event":"push","payload":{"aps":{}},"traceparent":"00-12"}"#.utf8)
        let error = #expect(throws: InboxRecordError.self) { try InboxRecord(parsing: line[...]) }
        #expect(error?.description.contains("'traceparent' is '00-', 32 and 16") == true)
    }

    @Test("the process of a Swift module: its events and calls, and what it asks its host for")
    func process() throws {
        let probe = Probe()
        let module = try LedModule(probe: probe)
        probe.when("a push") { module in
            try module.context.post("t.x")
            _ = try? module.context.mediator.perform("x.b", "act")
        }
        _ = try module.request(
            "event",
            #"{"event":"push","payload":{"aps":{}},"from":{"kind":"host"},"traceparent":"\#(Self.text)"}"#
        )
        for method in ["post", "call"] {
            let (request, id) = try module.nextRequest()
            #expect(request.method == method)
            #expect(request.parameters?["traceparent"]?.string == Self.text)
            try module.send(#""id":\#(id.text),"result":{"reply":null}"#)
        }
        try module.end()
    }
}
