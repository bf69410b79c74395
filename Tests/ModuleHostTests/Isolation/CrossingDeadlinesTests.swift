import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// The deadlines that the process of a Swift module watches for its host.
@Suite("Swift modules in a process of their own: deadlines", .timeLimit(.minutes(10)))
struct CrossingDeadlinesTests {
    private static let deadlines = #"{"eventMs":1000,"callMs":2000}"#

    @Test("code that no request waits for, and that does not return, is reported once")
    func slice() async throws {
        let (probe, time) = (Probe(), ManualTimeSource())
        let door = probe.close("resume one")
        let module = try LedModule(
            "LateProbe", probe: probe, deadlines: Self.deadlines, time: time)
        let call = try module.request(
            "call", #"{"action":"await","from":{"kind":"host"},"parameters":{"name":"one"}}"#)
        await probe.reached("await one")
        LateProbe.promise("one", of: probe).keep("done")
        await probe.reached("resume one")
        time.advance(by: .milliseconds(1200))
        try module.awaitNotification("unresponsive")
        time.advance(by: .seconds(5))
        let pending = try module.request("pending", "{}")
        door.open()
        #expect(try module.answer(to: call).string == "done host")
        _ = try module.answer(to: pending)
        #expect(module.notifications.filter { $0 == "unresponsive" }.count == 1)
        try module.end()
    }

    @Test("a module that returns in time is not reported")
    func inTime() async throws {
        let (probe, time) = (Probe(), ManualTimeSource())
        let door = probe.close("resume one")
        let module = try LedModule(
            "LateProbe", probe: probe, deadlines: Self.deadlines, time: time)
        let call = try module.request(
            "call", #"{"action":"await","from":{"kind":"host"},"parameters":{"name":"one"}}"#)
        await probe.reached("await one")
        // The handler has returned when a request is answered that no code of the module answers.
        try module.ask("pending", "{}")
        // Its host limits the time of the answer.
        time.advance(by: .seconds(3600))
        LateProbe.promise("one", of: probe).keep("done")
        await probe.reached("resume one")
        time.advance(by: .milliseconds(800))
        door.open()
        #expect(try module.answer(to: call).string == "done host")
        #expect(!module.notifications.contains("unresponsive"))
        try module.end()
    }

    @Test("work off the lane has the deadline of the host, also one that a reload has changed")
    func work() async throws {
        let (probe, time) = (Probe(), ManualTimeSource())
        probe.when("a push") { module in
            let number = probe.entries("push").count
            // Not work that blocks its thread: that one says so when it returns, and the module may be gone by then.
            let promise = LateProbe.promise("work \(number)", of: probe)
            try module.context.perform("w") { () async throws -> String in
                probe.note("work \(number)")
                return await promise.value
            } failed: { error in
                probe.note("\(error)")
                promise.keep("")
            }
        }
        let module = try LedModule(probe: probe, deadlines: Self.deadlines, time: time)
        let push = #"{"aps":{}}"#
        #expect(try module.notify(.push, push) == nil)
        await probe.reached("work 1")
        time.advance(by: .seconds(2))
        await probe.reached("work 'w' did not end within 2s; its result is discarded")
        try module.send(#""method":"deadlines","params":{"eventMs":1000,"callMs":500}"#)
        #expect(try module.notify(.push, push) == nil)
        await probe.reached("work 2")
        time.advance(by: .milliseconds(500))
        await probe.reached("work 'w' did not end within 500ms; its result is discarded")
        try module.end()
    }
}
