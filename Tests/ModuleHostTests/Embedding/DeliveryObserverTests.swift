import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// The observer of a host sees events and calls, and gives what they set off another trace.
@Suite("Delivery observers", .timeLimit(.minutes(10)))
struct DeliveryObserverTests {
    private static let given = TraceContextTests.text
    private static let own = given.replacing("00f067aa0ba902b7", with: "1111111111111111")

    private final class Desk: RoutedModule, RootProvider, MessageResponder {
        let topics = ["asked", "told"]
        private let context: ModuleContext

        init(context: ModuleContext) { self.context = context }

        var root: String? { nil }

        static var routes: [Route<Desk>] {
            [
                Route("trace") { (module, _) in module.context.traceparent ?? "none" },
                Route("fail") { (_, _) -> Int in throw TestError() },
            ]
        }

        func receive(_ message: Message) throws {
            if message.topic == "asked" { try context.post("told") }
        }
    }

    /// Notes all, and puts its own trace in the place of the one that is given.
    private final class Notes: DeliveryObserver {
        let all = LockedList<String>()

        private func own(_ trace: String?) -> String? {
            trace == DeliveryObserverTests.given ? DeliveryObserverTests.own : nil
        }

        private func name(_ trace: String?) -> String {
            switch trace {
            case DeliveryObserverTests.given: "given"
            case DeliveryObserverTests.own: "own"
            case nil: "none"
            default: "another"
            }
        }

        func willDeliver(_ event: LifecycleEvent) -> String? {
            if event.kind == .message {
                all.append("will deliver \(event.topic ?? "") in \(name(event.traceparent))")
            }
            return own(event.traceparent)
        }

        func didDeliver(_ delivery: Delivery) {
            guard delivery.event == .message else { return }
            all.append(
                "did deliver \(delivery.topic ?? "") in \(name(delivery.traceparent)) "
                    + "to \(delivery.delivered)")
        }

        func willCall(
            _ target: String, from origin: Origin, traceparent: String?
        ) -> String? {
            all.append("will call \(target) from \(origin) in \(name(traceparent))")
            return own(traceparent)
        }

        func didCall(
            _ target: String, traceparent: String?, in duration: Duration, failure: String?
        ) {
            all.append(
                "did call \(target) in \(name(traceparent)): \(failure ?? "answered")")
        }
    }

    @Test("events, messages that they set off, calls and their failures, in order")
    func order() async throws {
        let slatefile = """
            { "slate": 1, "app": "desk", "schemes": ["slate"], "modules": [
              { "id": "x.desk", "entry": "\(EntryUse.entry(of: Desk.self))", "main": true }
            ] }
            """
        let notes = Notes()
        let host = try AppHost(
            slatefile: slatefile, settings: AppHost.Settings(observer: notes)
        ) { _ in }
        let run = Task { try await host.run() }
        try await host.post("asked", traceparent: Self.given)
        #expect(
            try await host.call("x.desk", "trace", traceparent: Self.given)
                .decode(String.self) == Self.own)
        #expect(
            try await host.open("slate://x.desk/trace?secret=1").decode(String.self) == "none")
        await #expect(throws: HandlerFailure.self) { try await host.call("x.desk", "fail") }
        await #expect(throws: RouteError.self) { try await host.call("x.desk", "nothing") }
        run.cancel()
        try await run.value
        #expect(
            notes.all.values.filter { $0.contains("deliver") } == [
                "will deliver asked in given", "did deliver asked in own to 1",
                "will deliver told in own", "did deliver told in own to 1",
            ])
        #expect(
            notes.all.values.filter { $0.contains("call ") } == [
                "will call x.desk trace from host in given",
                "did call x.desk trace in own: answered",
                "will call slate://x.desk from host in none",
                "did call slate://x.desk in none: answered",
                "will call x.desk fail from host in none",
                "did call x.desk fail in none: x.desk: broken",
                "will call x.desk nothing from host in none",
                "did call x.desk nothing in none: no such route",
            ])
        let metrics = try await Self.metrics(of: host)
        #expect(metrics.isEmpty)
    }

    @Test("calls are counted by route and result, also those that are answered later")
    func counts() async throws {
        let probe = Probe()
        let test = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a", type: "CallProbe"),
                HostUnderTest.Entry(name: "b", type: "CallProbe"),
                HostUnderTest.Entry(name: "l", type: "LateProbe"),
            ], probe: probe
        ).launched()
        probe.whenCalled("a act") { _, _ in throw TestError() }
        for _ in 0..<3 { _ = await test.call("x.a", "sum", ["left": "1", "right": "2"]) }
        _ = try await test.asFirst { try "\($0.context.mediator.perform("x.a", "act"))" }
        _ = try await test.asFirst { try "\($0.context.mediator.perform("x.b", "act"))" }
        LateProbe.promise("y", of: probe).keep("")
        LateProbe.promise("z", of: probe).keep("throw")
        for name in ["y", "z"] { _ = await test.call("x.l", "await", ["name": name]) }
        let lines = try await Self.metrics(of: test.host).filter {
            $0.hasPrefix("hostd_route_calls_total")
        }
        #expect(
            lines.map { $0.replacing("hostd_route_calls_total{app=\"test\",module=", with: "") }
                == [
                    #""x.a",route="sum",result="ok"} 3"#, #""x.a",route="sum",result="failed"} 0"#,
                    #""x.a",route="act",result="ok"} 0"#, #""x.a",route="act",result="failed"} 1"#,
                    #""x.b",route="act",result="ok"} 1"#, #""x.b",route="act",result="failed"} 0"#,
                    #""x.l",route="await",result="ok"} 1"#,
                    #""x.l",route="await",result="failed"} 1"#,
                ])
        #expect(await test.stopped() == .stopped)
    }

    /// The lines of the metrics; none of a host that has ended.
    private static func metrics(of host: AppHost) async throws -> [String] {
        let text = Promise<String>()
        host.readMetricsDocument { document in
            text.keep(document.map { String(decoding: $0.text, as: UTF8.self) } ?? "")
        }
        return await text.value.split(separator: "\n").map(String.init)
    }
}
