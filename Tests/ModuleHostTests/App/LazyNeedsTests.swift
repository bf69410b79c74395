import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Lazy modules whose needs have failed, or that are made early", .timeLimit(.minutes(10)))
final class LazyNeedsTests: Sendable {
    private typealias Entry = HostUnderTest.Entry
    private let probe = Probe("LazyNeedsTests")
    private let isBroken = Guarded(true)

    private func lazy(_ name: String, needs need: String? = nil) -> Entry {
        let needs = need.map { #", "needs": ["x.\#($0)"]"# } ?? ""
        return Entry(name: name, more: #""launch": "lazy""# + needs, type: "LazyProbe")
    }

    private func states(_ host: HostUnderTest) async -> [ModuleStatus.State] {
        await host.statuses().map(\.state)
    }

    /// Lets a module throw in `init` as long as it is broken.
    private func breakEager(_ name: String) {
        probe.when("\(name) init") { [weak self] _ in
            if self?.isBroken.withLock(\.self) == true { throw TestError() }
        }
    }

    private func breakLazy(_ name: String) {
        probe.whenLazy("\(name) init") { [weak self] _ in
            if self?.isBroken.withLock(\.self) == true { throw TestError() }
        }
    }

    private func mend() { isBroken.withLock { $0 = false } }

    @Test("a durable event waits for a lazy module that needs a failed one, and comes with that")
    func waits() async throws {
        let folder = try TemporaryFolder()
        breakEager("m")
        let entries = [Entry(name: "a"), Entry(name: "m"), lazy("l", needs: "m")]
        let test = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        _ = await test.outcome("one")
        _ = await test.outcome("two")
        #expect(await states(test) == [.running, .failed, .failed])
        let status = await test.statuses()[2]
        #expect(status.reason == "needs x.m, which failed: init: broken")
        #expect(status.waiting?.count == 2)
        mend()
        test.host.restart("x.m", origin: .host) { _ in }
        while probe.entries("l").count(where: { $0 == "l push" }) < 2 { await test.settled() }
        #expect(probe.entries("l") == ["l init", "l launch", "l activate", "l push", "l push"])
        #expect(await test.failedCount() == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a durable event waits along a chain of lazy modules that need one another")
    func chain() async throws {
        let folder = try TemporaryFolder()
        breakLazy("j")
        let entries = [
            Entry(name: "a"), lazy("j"), lazy("k", needs: "j"), lazy("l", needs: "k"),
        ]
        let test = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        _ = await test.outcome("one")
        #expect(await states(test) == [.running, .failed, .failed, .failed])
        mend()
        for name in ["j", "k", "l"] {
            while !probe.entries(name).contains("\(name) push") {
                test.time.advance(by: .milliseconds(50))
                await test.calm()
            }
        }
        #expect(probe.entries("push").count == 4)
        #expect(await test.failedCount() == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("what waits for it is delivered by a later host, also where the need fails there first")
    func laterHost() async throws {
        let folder = try TemporaryFolder()
        breakEager("m")
        let entries = [Entry(name: "a"), Entry(name: "m"), lazy("l", needs: "m")]
        for number in 1...2 {
            let test = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
            if number == 1 { _ = await test.outcome("one") }
            while await test.statuses()[2].waiting?.count != 1 { await test.settled() }
            #expect(await states(test) == [.running, .failed, .failed])
            #expect(await test.stopped() == .stopped)
        }
        #expect(probe.entries("l").isEmpty)
        mend()
        let last = try await HostUnderTest(entries, folder: folder, probe: probe).launched()
        await probe.reached("l push")
        await probe.reached("m push")
        #expect(probe.entries("push").count == 3)
        #expect(await last.stopped() == .stopped)
    }

    @Test("a durable event that was accepted before a stop makes the lazy module that it is for")
    func stop() async throws {
        let folder = try TemporaryFolder()
        let test = try await HostUnderTest(
            [Entry(name: "a"), lazy("l")], folder: folder, probe: probe
        ).launched()
        let door = Door()
        test.host.onLane { _, _ in door.pass() }
        _ = await test.accept("one")
        while test.inbox?.progress.countInFlight == 0 { await Task.yield() }
        async let end = test.stopped()
        while !test.host.isStopping { await Task.yield() }
        door.open()
        #expect(await end == .stopped)
        let next = try await HostUnderTest(
            [Entry(name: "a"), lazy("l")], folder: folder, probe: probe
        ).launched()
        _ = await next.outcome("two")
        #expect(probe.entries("l").count { $0 == "l push" } == 2)
        #expect(await next.stopped() == .stopped)
    }

    @Test("one that is made while others are made at launch has each of them made once")
    func early() async throws {
        let entries = [
            Entry(name: "a"), Entry(name: "b", type: "EarlyCaller"), lazy("l"), Entry(name: "c"),
            Entry(name: "d"),
        ]
        let test = try await HostUnderTest(entries, probe: probe).launched()
        #expect(probe.entries("init") == ["a init", "l init", "b init", "c init", "d init"])
        #expect(await states(test).count { $0 == .running } == 5)
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is made before a module that it needs is not launched where that fails")
    func earlyNeed() async throws {
        breakEager("m")
        let entries = [
            Entry(name: "a"), Entry(name: "b", type: "EarlyCaller"), Entry(name: "m"),
            lazy("l", needs: "m"),
        ]
        let test = try await HostUnderTest(entries, probe: probe).launched()
        #expect(await states(test) == [.running, .running, .failed, .failed])
        #expect(!probe.entries.contains("l launch"))
        #expect(await test.stopped() == .stopped)
    }
}

/// A module that calls the lazy module `x.l` in its `init`.
final class EarlyCaller: ConfiguredModule {
    struct Configuration: Decodable { var probe: String }

    init(context: ModuleContext) throws {
        _ = try context.mediator.perform(
            "x.l", "touch", RouteParameters(["number": "4"]), as: Int.self)
        Probe.named(try context.config(Configuration.self).probe)?.note("b init")
    }
}
