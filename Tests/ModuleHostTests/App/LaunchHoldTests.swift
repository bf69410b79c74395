import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Modules that delay READY until others may rely on them.
@Suite("Holds of the launch", .timeLimit(.minutes(10)))
struct LaunchHoldTests {
    private let probe = Probe("LaunchHoldTests")

    private func test(_ names: String...) throws -> HostUnderTest {
        try HostUnderTest(
            names.map { .init(name: $0, type: $0 == "a" ? "ProbeModule" : "ServerProbe") },
            probe: probe)
    }

    /// Waits until a module holds the launch, and nothing else is to be done before READY.
    private func held(_ test: HostUnderTest) async {
        while test.holds.isEmpty || test.host.metrics.withLock({ $0.state }) != .active {
            await test.settled()
        }
        await test.calm()
    }

    private func listen(_ module: String) {
        LateProbe.promise("\(module) listens", of: probe).keep("")
    }

    private func isReady(_ test: HostUnderTest) -> Bool {
        test.host.metrics.withLock { $0.readyAfter } != nil
    }

    @Test("READY waits until each of them listens, and the app says which it waits for")
    func ready() async throws {
        let test = try test("a", "b", "c")
        let launch = Task { try await test.launched() }
        await held(test)
        #expect(!isReady(test))
        #expect(
            test.holds == ["x.b launch: listening, 20s left", "x.c launch: listening, 20s left"])
        listen("c")
        while test.holds.count > 1 { await test.settled() }
        await test.calm()
        #expect(!isReady(test))
        listen("b")
        _ = try await launch.value
        #expect(isReady(test) && test.holds == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("beyond the time of a launch the app is ready without it, with a warning")
    func tooLate() async throws {
        let test = try test("a", "b")
        let launch = Task { try await test.launched() }
        await held(test)
        test.time.advance(by: .seconds(20))
        _ = try await launch.value
        let warning = await test.recorder.first { $0.level == .warning }
        #expect(warning.message == "held 'launch' longer than 20s: listening")
        #expect(warning.module == "x.b")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a stop does not wait for it")
    func stop() async throws {
        let test = try test("a", "b")
        try test.host.launch()
        await held(test)
        #expect(await test.stopped() == .stopped)
        #expect(!isReady(test))
    }

    @Test("a module that a reload adds holds nothing")
    func reload() async throws {
        let test = try await test("a").launched()
        let entries: [HostUnderTest.Entry] = [
            .init(name: "a"), .init(name: "b", type: "ServerProbe"),
        ]
        #expect(try await test.reload(entries).text == "applied: added x.b")
        #expect(test.holds == [])
        #expect(await test.stopped() == .stopped)
    }
}

/// A module that listens when the test keeps a promise.
final class ServerProbe: RunningModule {
    private let probe: Probe
    private let name: String
    private var listening: ModuleHold?

    init(context: ModuleContext) throws {
        let name = try context.config(AsyncProbe.Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
        self.name = String(context.id.text.dropFirst(2))
        listening = context.holdLaunch("listening")
    }

    func run(isolation: isolated any Actor) async throws {
        let start = LateProbe.promise("\(name) listens", of: probe)
        _ = await withTaskCancellationHandler {
            await start.value
        } onCancel: {
            start.keep("")
        }
        listening?.end()
        let end = Promise<String>()
        _ = await withTaskCancellationHandler {
            await end.value
        } onCancel: {
            end.keep("")
        }
    }
}
