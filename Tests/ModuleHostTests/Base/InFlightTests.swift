import TestSupport
import Testing

@testable import ModuleHostCore

/// An item in flight that may stand in a list.
private final class Held: Sendable {
    private let load: InFlight

    init(_ load: consuming InFlight) { self.load = load }
}

@Suite("What is in flight")
struct InFlightTests {
    private static func budget(all: Int = 10_000, sender: Int = 4000) -> InFlightBudget {
        InFlightBudget(InFlightBudget.Limits(all: all, sender: sender))
    }

    private let overhead = InFlightBudget.overhead

    @Test("counts until it is no longer held")
    func counting() {
        let budget = Self.budget()
        let account = InFlightAccount(budget)
        let first = account.enter(100)
        let second = account.enter(200)
        #expect(budget.inFlight == 300 + 2 * overhead)
        _ = consume first
        #expect(budget.inFlight == 200 + overhead)
        _ = consume second
        #expect(budget.inFlight == 0)
    }

    @Test("a sender that has its share in flight waits, and the others do not")
    func share() {
        let calls = LockedList<String>()
        let budget = Self.budget()
        let account = InFlightAccount(budget) { calls.append("room") }
        let other = InFlightAccount(budget)
        // One alone may be as large as it likes.
        #expect(account.hasRoom && account.accepts)
        let load = account.enter(5000)
        #expect(!account.hasRoom && !account.accepts && other.hasRoom && other.accepts)
        #expect(!account.awaitRoom())
        #expect(calls.values == [])
        _ = consume load
        #expect(calls.values == ["room"])
        #expect(account.awaitRoom())
    }

    @Test(
        "where there is no room in all, a sender with nothing in flight is read, and causes no work"
    )
    func all() {
        let calls = LockedList<String>()
        let budget = Self.budget()
        let large = (0..<3).map { number in InFlightAccount(budget) { calls.append("\(number)") } }
        var load = large.map { Held($0.enter(3500)) }
        #expect(!budget.hasRoom)
        let idle = InFlightAccount(budget) { calls.append("idle") }
        #expect(idle.hasRoom && !idle.accepts)
        #expect(large.map(\.hasRoom) == [false, false, false])
        #expect(large.map { $0.awaitRoom() } == [false, false, false])
        let question = idle.enter(0)
        #expect(!idle.hasRoom)
        #expect(!idle.awaitRoom())
        // It has nothing in flight again, though there still is no room.
        _ = consume question
        #expect(calls.values == ["idle"])
        load.removeFirst()
        #expect(calls.values.sorted() == ["0", "idle"])
        load.removeFirst()
        #expect(calls.values.sorted() == ["0", "1", "2", "idle"])
    }

    @Test("says once that all of much is done, and nothing of little")
    func drained() {
        let calls = LockedList<String>()
        let budget = InFlightBudget()
        budget.onDrained = { calls.append("drained") }
        let account = InFlightAccount(budget)
        _ = account.enter(1 << 20)
        #expect(calls.values == [])
        for _ in 0..<2 {
            var load = (0..<10).map { _ in Held(account.enter(1 << 20)) }
            _ = account.enter(1)
            load.removeAll()
        }
        #expect(calls.values == ["drained", "drained"])
    }

    @Test(
        "a message is in flight until its modules have returned, and one that is dropped is not any more"
    )
    func messages() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        let account = InFlightAccount(test.host.inFlight)
        func post() throws {
            let load = account.enter(1000)
            try test.host.post("topic", nil, origin: .host, load: load)
        }
        try post()
        await test.settled()
        #expect(test.host.inFlight.inFlight == 0)
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        for _ in 0..<3 { try post() }
        #expect(test.host.inFlight.inFlight == 3 * (1000 + overhead))
        door.open()
        await test.settled()
        #expect(test.host.inFlight.inFlight == 0)
        #expect(await test.stopped() == .stopped)
        try post()
        #expect(test.host.inFlight.inFlight == 0)
    }

    @Test(
        "a request is in flight until its answer, and what it posted until that is delivered, where failures are logged too"
    )
    func requests() async throws {
        let probe = Probe()
        let door = Door()
        probe.when("a memory-warning") { _ in door.pass() }
        let test = try await HostUnderTest("a", probe: probe).launched()
        let inFlight = test.host.inFlight
        let account = InFlightAccount(inFlight)
        var methods = ControlMethods()
        methods.addCalls(to: test.host)
        methods.logFailures(to: test.recorder.log, time: test.time)
        let one = 1000 + overhead
        methods.receive("post", #"{"topic":""}"#, in: account)
        #expect(inFlight.inFlight == 0)
        try test.deliver(.memoryWarning)
        await probe.reached("a memory-warning")
        methods.receive("post", #"{"topic":"t"}"#, in: account)
        #expect(inFlight.inFlight == one)
        methods.receive("call", #"{"module":"x.a","action":"unknown"}"#, in: account)
        #expect(inFlight.inFlight == 2 * one)
        door.open()
        await test.settled()
        #expect(inFlight.inFlight == 0)
        #expect(await test.stopped() == .stopped)
        methods.receive("post", #"{"topic":"t"}"#, in: account)
        #expect(inFlight.inFlight == 0)
    }

    @Test("many threads leave it at nothing")
    func threads() async {
        let budget = Self.budget(all: 20_000, sender: 5000)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let account = InFlightAccount(budget)
                    for _ in 0..<2000 {
                        let load = [Held(account.enter(10)), Held(account.enter(4000))]
                        if !account.hasRoom { _ = account.awaitRoom() }
                        withExtendedLifetime(load) {}
                    }
                }
            }
        }
        #expect(budget.inFlight == 0)
        #expect(budget.hasRoom)
    }
}
