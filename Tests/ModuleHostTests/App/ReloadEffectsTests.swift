import TestSupport
import Testing

@testable import ModuleHostCore

/// What a reload exchanges beside the modules themselves.
@Suite("What a reload exchanges", .timeLimit(.minutes(10)))
struct ReloadEffectsTests {
    private typealias Entry = HostUnderTest.Entry

    @Test("the time that a module has for an event, and for a hold")
    func deadlines() async throws {
        let probe = Probe()
        let door = Door()
        let hold = Guarded<ModuleHold?>(nil)
        probe.when("a memory-warning") { _ in door.pass() }
        probe.when("b background") { module in
            let taken = try module.context.hold("saving")
            hold.withLock { $0 = taken }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload(
            "a", "b", top: #""deadlines": {"event": "1s", "stop": "3s"}"#)
        #expect(outcome.text == "applied: deadlines")
        try test.deliver(.background)
        await test.settled()
        #expect(hold.withLock { $0 }?.remaining == .seconds(3))
        hold.withLock { $0 }?.end()
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        // The watchdog may have been at its last tick of half a second.
        test.overrun(.seconds(2))
        await probe.reached("b memory-warning")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that is equal keeps its routes, and has its entry from the new slatefile")
    func equal() async throws {
        let first = Entry(name: "a", type: "CallProbe")
        let test = try await HostUnderTest(
            [first, Entry(name: "b", type: "CallProbe")], probe: Probe()
        ).launched()
        func onLane<Value: Sendable>(_ body: @escaping @Sendable (App) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                test.host.onLane { app, _ in continuation.resume(returning: body(app)) }
            }
        }
        func routes(of place: Int) async -> Set<ObjectIdentifier> {
            await onLane { Set($0.calls?.boundRoutes(at: place).map(ObjectIdentifier.init) ?? []) }
        }
        let (kept, replaced) = (await routes(of: 0), await routes(of: 1))
        #expect(try await test.reload([first, Entry(name: "b")]).text == "applied: recreated x.b")
        #expect(await routes(of: 0) == kept && !kept.isEmpty && !replaced.isEmpty)
        #expect(await routes(of: 1).isEmpty)
        #expect(
            try await test.reload([first, Entry(name: "b", type: "CallProbe")]).text
                == "applied: recreated x.b")
        #expect(await routes(of: 0) == kept)
        #expect(await routes(of: 1).count == replaced.count)
        // In the second job from now on: the first one may list it.
        await test.settled()
        let areNew = await onLane { app in
            zip(app.records, app.slatefile.modules).map {
                $0.entry.value.document === $1.value.document
            }
        }
        #expect(areNew == [true, true])
        #expect(await test.stopped() == .stopped)
    }

    @Test("what waits for the next start is as it was, and is named each time")
    func waiting() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", probe: probe).launched()
        let top = #""startup": {"width": 1}"#
        for _ in 0..<2 {
            #expect(
                try await test.reload("a", "b", top: top).text.hasSuffix(
                    "waits for the next start: startup"))
            #expect(test.host.slatefile.startup != Slatefile.Startup(width: 1))
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module is notified whether its settings changed, or the app's")
    func settings() async throws {
        let probe = Probe()
        let changes = LockedList<String>()
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        for name in ["a", "b"] {
            probe.whenChanged(name) { changes.append("\(name) \($0.isChanged)") }
        }
        _ = try await test.reload([Entry(name: "a"), Entry(name: "b", config: #""root": "r""#)])
        #expect(changes.takeAll() == ["a false", "b true"])
        _ = try await test.reload(
            [Entry(name: "a"), Entry(name: "b", config: #""root": "r""#)],
            top: #""config": {"n": 1}"#)
        #expect(changes.takeAll() == ["a true", "b true"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a new module reads the app's new settings")
    func appSettings() async throws {
        let probe = Probe()
        probe.when("b init") { module in
            let config = try module.context.appConfig([String: Int].self)
            module.probe?.note("b reads \(config)")
        }
        let test = try await HostUnderTest("a", top: #""config": {"n": 1}"#, probe: probe)
            .launched()
        _ = try await test.reload("a", "b", top: #""config": {"n": 2}"#)
        #expect(probe.entries("reads") == [#"b reads ["n": 2]"#])
        #expect(await test.stopped() == .stopped)
    }

    @Test("modules that are removed receive each event in their order, and are released in reverse")
    func farewells() async throws {
        let probe = Probe()
        let test = try await HostUnderTest("a", "b", "c", probe: probe).launched()
        let before = probe.entries.count
        #expect(try await test.reload("a").text == "applied: removed x.b, x.c")
        #expect(
            Array(probe.entries.dropFirst(before)) == [
                "a configuration-changed", "b resign-active", "c resign-active", "b background",
                "c background", "b terminate", "c terminate", "c deinit", "b deinit",
            ])
        #expect(await test.unloading == 0)
        #expect(await test.stopped() == .stopped)
    }

    @Test("a module that failed to launch goes without a word, and is no longer counted")
    func failed() async throws {
        let probe = Probe()
        probe.when("b launch") { _ in throw TestError() }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(await test.counted == "1 running, 1 failed")
        #expect(try await test.reload("a", "c").text == "applied: added x.c; removed x.b")
        await test.settled()
        #expect(probe.entries("b") == ["b init", "b launch", "b deinit"])
        #expect(await test.counted == "2 running, 0 failed")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a required start-up task of a module that was let go of ends nothing when it fails")
    func abandonedTask() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b init") { module in
            try module.context.startup("load", required: true) {
                door.pass()
                throw TestError()
            }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        door.open()
        await withCheckedContinuation { continuation in
            test.host.startup.whenDone(.default) { continuation.resume() }
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("after one that was undone, start-up tasks go by the names that they had before")
    func namesOfTasks() async throws {
        let probe = Probe()
        probe.when("b init") { try $0.context.startup("load") {} }
        probe.when("c init") { _ in throw TestError() }
        probe.when("d init") { try $0.context.startup("load", after: ["x.b/load"]) {} }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        let outcome = try await test.reload([
            Entry(name: "a"), Entry(name: "b", type: "CallProbe"), Entry(name: "c"),
        ])
        #expect(outcome.text == "undone: module 'x.c' failed in init: broken")
        #expect(try await test.reload("a", "b", "d").text == "applied: added x.d")
        #expect(await test.stopped() == .stopped)
    }

    @Test("one that is removed may hold its very end open, too")
    func heldEnd() async throws {
        let probe = Probe()
        let hold = Guarded<ModuleHold?>(nil)
        probe.when("b terminate") { module in
            let taken = try module.context.hold("saving")
            hold.withLock { $0 = taken }
        }
        let test = try await HostUnderTest("a", "b", probe: probe).launched()
        #expect(try await test.reload("a").text == "applied: removed x.b")
        await test.settled()
        #expect(probe.entries("b").last == "b terminate")
        hold.withLock { $0 }?.end()
        await probe.reached("b deinit")
        #expect(await test.stopped() == .stopped)
    }

    @Test("the order of the black box is that of the new slatefile")
    func blackBox() async throws {
        let probe = Probe()
        let folder = try TemporaryFolder()
        let test = try await HostUnderTest(
            [Entry(name: "a"), Entry(name: "b"), Entry(name: "c")], folder: folder, probe: probe
        ).launched()
        let directory = StateDirectory(path: folder.path)
        func order() -> [String] {
            BlackBox.Contents(in: directory)?.order.map(\.text) ?? []
        }
        #expect(order() == ["x.a", "x.b", "x.c"])
        _ = try await test.reload("c", "d", "a")
        await test.settled()
        #expect(order() == ["x.c", "x.d", "x.a"])
        // From these the watchdog knows how many are still to come in a stop.
        let ranks = Promise<[UInt16]>()
        test.host.onLane { app, _ in ranks.keep(app.records.map(\.slot.rank)) }
        #expect(await ranks.value == [1, 2, 3])
        #expect(await test.stopped() == .stopped)
    }

    @Test("the new order decides which module receives a claimed event late")
    func claimed() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("b memory-warning") { _ in door.pass() }
        let claims = Entry(name: "a", config: #""claims": true"#)
        let test = try await HostUnderTest(
            [Entry(name: "b"), claims, Entry(name: "c")], probe: probe
        ).launched()
        _ = try await test.reload([claims, Entry(name: "b"), Entry(name: "c")])
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.overrun()
        await probe.reached("c memory-warning")
        try test.deliver(.openURL, #"{"url": "app:x"}"#)
        try test.deliver(.push, #"{"aps": {}}"#)
        door.open()
        await probe.reached("b push")
        // By now it stands behind the one that claimed it.
        #expect(probe.entries("open-url") == ["a open-url"])
        #expect(await test.stopped() == .stopped)
    }
}

extension HostUnderTest {
    /// How many modules are on their way out.
    fileprivate var unloading: Int {
        get async {
            await withCheckedContinuation { continuation in
                host.onLane { app, _ in
                    continuation.resume(returning: app.unloadingModules.records.count)
                }
            }
        }
    }

    /// How many modules run and have failed, as the status says it.
    fileprivate var counted: String {
        get async {
            await withCheckedContinuation { continuation in
                host.onLane { app, _ in
                    continuation.resume(
                        returning: app.metrics.withLock {
                            "\($0.modulesRunning) running, \($0.modulesFailed) failed"
                        })
                }
            }
        }
    }
}
