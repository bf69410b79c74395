import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Work off the lane", .timeLimit(.minutes(10)))
struct ModuleWorkTests {
    /// Launches one module, and lets it do something at `memory-warning`.
    private func host(
        _ probe: Probe, top: String = "", _ act: @escaping Probe.Act
    ) async throws -> HostUnderTest {
        probe.when("a memory-warning", act)
        let test = try await HostUnderTest("a", "b", top: top, probe: probe).launched()
        try test.deliver(.memoryWarning)
        return test
    }

    @Test(
        "work runs off the lane, and its result comes back on the lane", arguments: [true, false])
    func result(isAsync: Bool) async throws {
        let probe = Probe("result \(isAsync)")
        let test = try await host(probe) { module in
            let services = module.context.host.services
            let then: (Int) -> Void = { [unowned module] in
                probe.note("then \($0) \(module.name) \(services.isOnLane)")
            }
            if isAsync {
                try module.context.perform("count") { () async throws -> Int in
                    await Task.yield()
                    probe.note("work \(services.isOnLane)")
                    return 2
                } then: {
                    then($0)
                }
            } else {
                try module.context.perform("count") {
                    probe.note("work \(services.isOnLane)")
                    return 2
                } then: {
                    then($0)
                }
            }
        }
        await probe.reached("then 2 a true")
        #expect(probe.entries.contains("work false"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("an error of the work is logged under the module's name, or is taken by the module")
    func errors() async throws {
        let probe = Probe()
        let test = try await host(probe) { module in
            try module.context.perform("plain") { throw TestError() }
            try module.context.perform("taken") { () async throws -> Int in
                throw TestError(description: "mine")
            } then: { _ in
                probe.note("never")
            } failed: {
                probe.note("failed: \($0)")
            }
            try module.context.perform("refused") {
                1
            } then: { _ in
                throw TestError(description: "full")
            }
        }
        let plain = await test.recorder.first(containing: "work 'plain'")
        #expect(plain.message == "work 'plain' failed: broken" && plain.module == "x.a")
        await probe.reached("failed: mine")
        let refused = await test.recorder.first(containing: "work 'refused'")
        #expect(
            refused.message == "the end of work 'refused' was not handled: full"
                && refused.module == "x.a" && refused.level == .error)
        #expect(!test.recorder.messages.contains { $0.contains("work 'taken'") })
        #expect(!probe.entries.contains("never"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("work that hangs is dropped at its deadline, and other work has its thread's place")
    func overdue() async throws {
        let probe = Probe()
        let door = Door()
        let test = try await host(probe, top: #""startup": {"width": 1}"#) { module in
            try module.context.perform("stuck", deadline: .seconds(2)) {
                probe.note("stuck")
                door.pass()
                return 1
            } then: { _ in
                probe.note("never")
            }
            try module.context.perform("next") {
                2
            } then: {
                probe.note("next \($0)")
            }
        }
        await probe.reached("stuck")
        #expect(!probe.entries.contains("next 2"))
        test.time.advance(by: .seconds(2))
        await probe.reached("next 2")
        // Its place is given away before it is logged.
        _ = await test.recorder.first(
            containing: "work 'stuck' did not end within 2s; its result is discarded")
        door.open()
        _ = await test.recorder.first(containing: "returned late; its result is discarded")
        #expect(!probe.entries.contains("never"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("asynchronous work is cancelled at its deadline, which is deadlines.call by default")
    func overdueTask() async throws {
        let probe = Probe()
        let test = try await host(probe, top: #""deadlines": {"call": "3s"}"#) { module in
            try module.context.perform("wait") {
                probe.note("waits")
                await Self.untilCancelled()
                probe.note("cancelled")
            } then: {
                probe.note("never")
            } failed: {
                probe.note("\($0)")
            }
        }
        await probe.reached("waits")
        test.time.advance(by: .seconds(3))
        await probe.reached("cancelled")
        await probe.reached("work 'wait' did not end within 3s; its result is discarded")
        #expect(await test.stopped() == .stopped)
        #expect(!probe.entries.contains("never"))
    }

    @Test("work that the module cancels calls neither of its closures, and holds nothing")
    func cancelled() async throws {
        let probe = Probe()
        let door = Door()
        let stuck = Promise<Void>()
        let test = try await host(probe, top: #""startup": {"width": 1}"#) { module in
            let token = ReleaseNote { probe.note("released \($0)") }
            let work = try module.context.perform("stuck") {
                stuck.keep(())
                door.pass()
            } then: {
                probe.note("never \(token)")
            } failed: { _ in
                probe.note("never")
            }
            let waiting = try module.context.perform("waiting") { probe.note("never") }
            stuck.wait()
            #expect(work.isRunning && waiting.isRunning)
            work.cancel()
            waiting.cancel()
            #expect(!work.isRunning && !waiting.isRunning)
        }
        await probe.reached("released x.a")
        door.open()
        await test.settled()
        #expect(await test.stopped() == .stopped)
        #expect(!probe.entries.contains("never"))
    }

    @Test("a reload that removes the module cancels its work")
    func unloaded() async throws {
        let probe = Probe()
        probe.when("b memory-warning") { module in
            try module.context.perform("wait") {
                probe.note("waits")
                await Self.untilCancelled()
                probe.note("cancelled")
            } then: {
                probe.note("never \(module.name)")
            }
        }
        let test = try await host(probe) { _ in }
        await probe.reached("waits")
        let outcome = try await test.reload("a")
        #expect(outcome.text == "applied: removed x.b")
        await probe.reached("cancelled")
        await probe.reached("b deinit")
        #expect(await test.stopped() == .stopped)
        #expect(!probe.entries.contains("never b"))
    }

    @Test("a stop waits for work with a hold and for its result, and not for other work")
    func holding() async throws {
        let probe = Probe()
        let isSent = Promise<Int>()
        let test = try await host(probe) { module in
            try module.context.perform("sending", holding: true) {
                await isSent.value
            } then: {
                probe.note("sent \($0)")
            }
            try module.context.perform("other") { await Self.untilCancelled() }
        }
        await test.settled()
        test.host.stop(because: "the test says so")
        _ = await test.recorder.first(containing: "the stop waits: x.a holds 'background': sending")
        #expect(!probe.entries.contains("a terminate"))
        isSent.keep(3)
        #expect(await test.end() == .stopped)
        let order = probe.entries.filter { ["sent 3", "a terminate"].contains($0) }
        #expect(order == ["sent 3", "a terminate"])
    }

    @Test("when the time of its hold is over the work is cancelled, and has failed")
    func holdRanOut() async throws {
        let probe = Probe()
        let test = try await host(probe) { module in
            try module.context.perform("sending", holding: true) {
                probe.note("begun")
                await Self.untilCancelled()
                probe.note("cancelled")
            } then: {
                probe.note("never")
            } failed: {
                probe.note("\($0)")
            }
        }
        // Work that has not begun would never note that it is cancelled.
        await probe.reached("begun")
        test.host.stop(because: "the test says so")
        _ = await test.recorder.first(containing: "the stop waits")
        test.time.advance(by: .seconds(10))
        await probe.reached(
            "work 'sending' was cancelled: the time of its hold, 'deadlines.stop', is over")
        #expect(await test.end() == .stopped)
        await probe.reached("cancelled")
        #expect(!probe.entries.contains("never"))
    }

    @Test("a module has at most so many pieces of work that have not ended")
    func bound() async throws {
        let probe = Probe()
        let test = try await host(probe) { module in
            let work = try (0..<ModuleWork.limit).map { _ in
                try module.context.perform("wait") { await Self.untilCancelled() }
            }
            do {
                try module.context.perform("more") {}
            } catch {
                probe.note("\(error)")
            }
            do {
                try module.context.perform("none", deadline: .zero) {}
            } catch {
                probe.note("\(error)")
            }
            for work in work { work.cancel() }
        }
        await probe.reached(
            "work 'more' was not begun: the module has 1024 pieces of work that have not ended; "
                + "begin more when these have")
        await probe.reached(
            "work 'none' was not begun: its deadline is 0ns, and must be longer than zero")
        await test.settled()
        probe.when("a memory-warning") { module in
            try module.context.perform("again") {
            } then: {
                probe.note("again")
            }
        }
        try test.deliver(.memoryWarning)
        await probe.reached("again")
        #expect(await test.stopped() == .stopped)
    }

    @Test("the result for a module that is overdue waits for the module")
    func overdueModule() async throws {
        let probe = Probe()
        let door = probe.close("a standing")
        let result = Promise<Int>()
        let test = try await host(probe) { module in
            try module.context.perform("late") {
                await result.value
            } then: {
                probe.note("then \($0)")
            }
            probe.stand("a standing")
        }
        await probe.reached("a standing")
        test.overrun()
        await probe.reached("b memory-warning")
        result.keep(4)
        await test.settled()
        #expect(!probe.entries.contains("then 4"))
        door.open()
        await probe.reached("then 4")
        #expect(await test.stopped() == .stopped)
    }

    /// Waits until the task is cancelled.
    @concurrent
    static func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }
}

/// An object that notes its release, and where that was: in the module, or elsewhere.
private final class ReleaseNote: CustomStringConvertible {
    private let note: (String) -> Void

    init(_ note: @escaping (String) -> Void) { self.note = note }

    deinit { note("x.a") }

    var description: String { "note" }
}
