import TestSupport
import Testing

@testable import ModuleHostCore

/// Tests of the entries that a running app adds to its record.
@Suite("The record of an app", .timeLimit(.minutes(10)))
struct AppRecordTests {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("AppRecordTests")
    private let ring: RecordRing

    init() throws { ring = try RecordRing(inMemory: RecordRing.sizes.lowerBound) }

    private func facts(of module: String?) throws -> [HostRecord.Fact] {
        try #require(ring.contents).last(99) { $0.module?.text == module }.map(\.fact)
    }

    @Test("the life of modules, a delivery that takes long, and the stop")
    func life() async throws {
        probe.fail("c init")
        let door = Door()
        probe.when("b background") { _ in door.pass() }
        let test = try await HostUnderTest(
            [
                Entry(name: "a"), Entry(name: "b"), Entry(name: "c"),
                Entry(name: "d", more: #""needs": ["x.c"]"#), Entry(name: "e"),
            ], probe: probe, ring: ring
        ).launched()
        try test.deliver(.background)
        await probe.reached("b background")
        test.overrun()
        await probe.reached("e background")
        door.open()
        await test.caughtUp()
        let reason = try #require(await test.statuses()[2].reason)
        #expect(await test.stopped() == .stopped)

        let host = try facts(of: nil)
        let deliveries = host.compactMap { fact -> HostRecord.Delivery? in
            if case .delivered(let delivery) = fact { delivery } else { nil }
        }
        // The clock stands still but for the overrun, which may not be over when another thread goes on.
        let slow = try #require(deliveries.first { $0.kind == .background })
        #expect((.seconds(5)...(.seconds(6))).contains(slow.duration))
        // The end of the host says that its modules are released.
        #expect(try facts(of: "x.a") == [.created, .launched])
        #expect(
            try facts(of: "x.b") == [
                .created, .launched, .unresponsive(in: "background"),
                .handled(HostRecord.Handling(kind: .background, duration: slow.duration)),
                .responsive(missed: 0),
            ])
        #expect(try facts(of: "x.c") == [.failed(reason: reason, need: nil)])
        #expect(
            try facts(of: "x.d") == [
                .failed(reason: "needs x.c, which failed: \(reason)", need: try ModuleID("x.c"))
            ])
        #expect(host.contains(.stopping(reason: "the test is over")))
        #expect((slow.received, slow.unresponsive) == (2, 1))
        #expect(deliveries.allSatisfy { $0.duration > .zero || $0.failed > 0 })
    }

    @Test("a handler that throws, and the delivery in which it did")
    func threw() async throws {
        probe.fail("b background")
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b")], probe: probe, ring: ring
        ).launched()
        try test.deliver(.background)
        await test.settled()
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(
            try facts(of: "x.b").suffix(1) == [.threw(in: .background, error: "\(TestError())")])
        let host = try facts(of: nil)
        #expect(
            host == [
                .delivered(
                    HostRecord.Delivery(
                        kind: .background, duration: .zero, received: 1, failed: 1))
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "the module that took longest in a delivery, also where it threw; none below 10 ms")
    func slowest() async throws {
        let test = try HostUnderTest(
            [Entry(name: "a"), Entry(name: "b"), Entry(name: "c")], probe: probe, ring: ring)
        func takes(_ module: String, _ event: String, _ microseconds: Int) {
            probe.when("\(module) \(event)") { _ in
                test.time.advance(by: .microseconds(microseconds))
            }
        }
        for (module, time) in [("a", 20_000), ("b", 50_000), ("c", 40_000)] {
            takes(module, "background", time)
            takes(module, "foreground", module == "b" ? 1 : 6000)
        }
        takes("a", "memory-warning", 30_000)
        probe.when("c memory-warning") { _ in
            test.time.advance(by: .milliseconds(40))
            throw TestError()
        }
        _ = try await test.launched()
        try test.deliver(.background)
        try test.deliver(.foreground)
        try test.deliver(.memoryWarning)
        await test.settled()
        let deliveries = try facts(of: nil).compactMap { fact -> HostRecord.Delivery? in
            if case .delivered(let delivery) = fact { delivery } else { nil }
        }
        #expect(
            deliveries.map { "\($0.kind.rawValue) \($0.duration.briefText)" } == [
                "background 110ms", "foreground 12ms", "memory-warning 70ms",
            ])
        let line = try #require(test.recorder.records.first { $0.event == "background" })
        #expect(
            line.fields.suffix(2) == [LogField("slowest", "x.b"), LogField("slowestTime", "50ms")])
        let handled = try #require(ring.contents).last(9) { entry in
            if case .handled = entry.fact { true } else { false }
        }
        #expect(
            handled.map { "\($0.module?.text ?? "") \($0.text)" } == [
                "x.a took 20ms for background", "x.b took 50ms for background",
                "x.c took 40ms for background", "x.a took 30ms for memory-warning",
                "x.c took 40ms for memory-warning",
            ])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that answers late took its time only since all others were notified")
    func slowestOfLate() async throws {
        let folder = try TemporaryFolder()
        let test = try HostUnderTest(
            [Entry(name: "a"), Entry(name: "b", type: "AsyncProbe"), Entry(name: "c")],
            folder: folder, probe: probe, ring: ring)
        probe.when("c push") { module in
            if module.context.event?.id == "one" { test.time.advance(by: .milliseconds(50)) }
            module.noteEvent()
        }
        _ = try await test.launched()
        AsyncProbe.give("end", to: "one", of: probe)
        guard case .done = await test.outcome("one") else {
            Issue.record("the first push is not done")
            return
        }
        let second = Task { await test.outcome("two") }
        while probe.received("c").count < 2 { await Task.yield() }
        await probe.reached("b two")
        await test.settled()
        test.time.advance(by: .milliseconds(70))
        AsyncProbe.give("end", to: "two", of: probe)
        _ = await second.value
        let slow = try #require(ring.contents).last(9).compactMap { entry -> String? in
            guard case .handled(let handling) = entry.fact, let id = handling.id else { return nil }
            return "\(id) \(entry.module?.text ?? "") \(handling.duration.briefText)"
        }
        #expect(slow == ["one x.c 50ms", "two x.b 70ms"])
        #expect(await test.stopped() == .stopped)
        withExtendedLifetime(folder) {}
    }

    @Test("each attempt is noted once, and the state lasts since the first failure")
    func attempts() async throws {
        probe.fail("b launch")
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b", more: #""retry": true"#)], probe: probe, ring: ring
        ).launched()
        let first = await test.statuses()[1]
        #expect(first.state == .failed)
        for _ in 0..<20 where test.scheduledRestarts < 2 {
            test.time.advance(by: .milliseconds(125))
            await test.calm()
        }
        #expect(await test.statuses()[1].since == first.since)
        let facts = try facts(of: "x.b").map { fact -> String in
            switch fact {
            case .restarting: "restarting"
            case .failed: "failed"
            default: "\(fact)"
            }
        }
        #expect(
            facts.prefix(5) == ["created", "failed", "restarting", "created", "failed"])
        #expect(await test.stopped() == .stopped)
    }
}
