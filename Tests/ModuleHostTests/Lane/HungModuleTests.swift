import AppService
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// Modules that hang for real, under the real clock.
///
/// Nothing is asserted of how long anything takes: only that the others receive what they are to receive, which
/// they would not if the lane waited.
@Suite("A module that hangs", .timeLimit(.minutes(10)))
struct HungModuleTests {
    /// How a module hangs, until it is released.
    enum Hang: CaseIterable, CustomTestStringConvertible {
        case sleep, lock, spin

        var testDescription: String {
            switch self {
            case .sleep: "asleep"
            case .lock: "before a lock that is held"
            case .spin: "in a loop, on every core"
            }
        }
    }

    /// Holds modules up.
    private final class Trap: Sendable {
        private let isReleased = Atomic(false)
        private let lock = Guarded(())

        func hang(_ hang: Hang) throws {
            switch hang {
            case .sleep: while !isReleased.load(ordering: .relaxed) { usleep(1000) }
            case .lock: lock.withLock { _ in }
            case .spin:
                // One more than there are cores, so that the lane has none to itself.
                for _ in 0..<sysconf(Int32(_SC_NPROCESSORS_ONLN)) {
                    try NativeThread.start(name: "spin") { self.spin() }
                }
                spin()
            }
        }

        private func spin() { while !isReleased.load(ordering: .relaxed) {} }

        /// Takes the lock, and has it until the release.
        func holdLock() async throws {
            let isHeld = Promise<Void>()
            try NativeThread.start(name: "lock") { [self] in
                lock.withLock { _ in
                    isHeld.keep(())
                    while !isReleased.load(ordering: .relaxed) { usleep(1000) }
                }
            }
            await isHeld.value
        }

        func release() { isReleased.store(true, ordering: .relaxed) }
    }

    @Test("does not keep events from the others", arguments: Hang.allCases)
    func hangs(as hang: Hang) async throws {
        let probe = Probe("hangs as \(hang)")
        let trap = Trap()
        try await trap.holdLock()
        probe.when("b background") { _ in try trap.hang(hang) }
        let (ready, ended) = (Promise<Void>(), Promise<AppHost.End>())
        let recorder = LogRecorder()
        let host = AppHost(
            slatefile: try slatefile(probe), stateDirectory: "/nonexistent", log: recorder.log,
            observer: AppHost.Observer(
                onReady: { _, _, _ in ready.keep(()) }, onEnd: { ended.keep($0) }))
        try host.launch()
        await ready.value
        host.deliver(try LifecycleEvent(.background, origin: .host))
        await probe.reached("c background")
        for event in [EventKind.memoryWarning, .foreground] {
            host.deliver(try LifecycleEvent(event, origin: .host))
            await probe.reached("a \(event.rawValue)")
            await probe.reached("c \(event.rawValue)")
        }
        #expect(probe.entries("b").last == "b background")
        _ = await recorder.first { $0.module == "x.b" && $0.message.hasPrefix("unresponsive: ") }

        trap.release()
        _ = await recorder.first { $0.module == "x.b" && $0.message.hasPrefix("responsive again") }
        let settled = Promise<Void>()
        host.onLane { _, _ in settled.keep(()) }
        await settled.value
        #expect(
            probe.entries("b").suffix(4)
                == ["b background", "b memory-warning", "b foreground", "b activate"])
        host.stop(because: "the test is over")
        #expect(await ended.value == .stopped)
    }

    private func slatefile(_ probe: Probe) throws -> Slatefile {
        let modules = ["a", "b", "c"].map { name in
            """
            {"id": "x.\(name)", "entry": "ModuleHostTests.ProbeModule", "main": \(name == "a"), \
            "config": {"probe": "\(probe.name)"}}
            """
        }
        let text = """
            {"slate": 1, "app": "test", "deadlines": {"event": "200ms", "stopAll": "10m"},
             "modules": [\(modules.joined(separator: ", "))]}
            """
        return try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
    }

    @Test("for ever leaves nine of ten with every later event, in order", arguments: [0, 4, 9])
    func oneOfTen(hung: Int) async throws {
        let names = (0..<10).map { "m\($0)" }
        let probe = Probe("one of ten, \(hung)")
        let door = Door()
        probe.when("m\(hung) background") { _ in door.pass() }
        let test = try await HostUnderTest(
            names.map { HostUnderTest.Entry(name: $0) }, probe: probe
        ).launched()
        try test.deliver(.background)
        await probe.reached("m\(hung) background")
        test.overrun()
        let count = 100
        for _ in 0..<count { try test.deliver(.memoryWarning) }
        try test.deliver(.foreground)
        await test.settled()
        let later = ["background"] + Array(repeating: "memory-warning", count: count)
        for name in names where name != "m\(hung)" {
            let expected = (later + ["foreground", "activate"]).map { "\(name) \($0)" }
            #expect(probe.entries(name).suffix(expected.count) == expected)
        }
        #expect(probe.entries("m\(hung)").last == "m\(hung) background")
        door.open()
        #expect(await test.stopped() == .stopped)
    }
}
