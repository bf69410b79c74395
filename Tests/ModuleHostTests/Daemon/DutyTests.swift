import AppService
import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// A loop that carries the lane, and passes to its second thread.
@Suite("Duty", .timeLimit(.minutes(10)))
struct DutyTests {
    /// A loop whose turns do what the test gives it.
    private final class Loop: Sendable {
        private let work = Guarded<[(@Sendable () -> Void)?]>([])
        private let given = DispatchSemaphore(value: 0)
        let ended = Promise<Void>()

        init(of lane: Lane, patience: Duration) throws {
            let duty = Duty("loop", of: lane, patience: patience) { [self] waits in
                guard waits else { return .goOn }
                given.wait()
                guard let body = work.withLock({ $0.removeFirst() }) else { return .end }
                body()
                return .goOn
            }
            try NativeThread.start(name: "loop") { [self] in
                duty.run()
                ended.keep(())
            }
        }

        /// Has the loop do something in one turn, or ends it.
        func turn(_ body: (@Sendable () -> Void)?) {
            work.withLock { $0.append(body) }
            given.signal()
        }

        /// Lists a job in one turn.
        ///
        /// - Returns: The thread that lists it, and the one that runs it.
        func list(
            on lane: Lane, _ body: @escaping @Sendable () -> Void = {}
        ) async -> (lists: UInt, runs: UInt) {
            let (lists, runs) = (Promise<UInt>(), Promise<UInt>())
            turn {
                lists.keep(NativeThread.current)
                lane.enqueue { _ in
                    body()
                    runs.keep(NativeThread.current)
                }
            }
            return (await lists.value, await runs.value)
        }

        /// Lists a job in one turn whose module does not return until a door is open.
        ///
        /// - Returns: The thread that is in the module.
        func enter(_ slot: ModuleSlot, on lane: Lane, until door: Door) async -> UInt {
            let inside = Promise<UInt>()
            turn {
                lane.enqueue(
                    ModuleJob(gate: Gate(lane: lane), slot: slot) {
                        inside.keep(NativeThread.current)
                        door.pass()
                    })
            }
            return await inside.value
        }

        /// Lists jobs, one a turn, until one is carried: then the second thread stands by.
        func warmUp(_ lane: Lane) async {
            while true {
                let threads = await list(on: lane)
                if threads.lists == threads.runs { return }
            }
        }
    }

    private let time = ManualTimeSource()
    private let slot = ModuleSlot(number: 1, id: nil)

    private func lane() throws -> Lane {
        let lane = Lane(limits: Watchdog.Limits(), time: time)
        lane.register(slot)
        try lane.start()
        return lane
    }

    @Test("a lone job runs on the thread that has listed it; of two, the lane's thread runs both")
    func carries() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let (lists, first, second) = (Promise<UInt>(), Promise<UInt>(), Promise<UInt>())
        loop.turn {
            lists.keep(NativeThread.current)
            lane.enqueue { _ in first.keep(NativeThread.current) }
            lane.enqueue { _ in second.keep(NativeThread.current) }
        }
        let resident = await first.value
        #expect(await second.value == resident)
        #expect(await lists.value != resident)
        await loop.warmUp(lane)
        loop.turn(nil)
        await loop.ended.value
        lane.close()
    }

    @Test(
        "a carrier runs the job that continues its own, and leaves more than that to the lane's thread"
    )
    func listsMore() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let (next, last) = (Promise<UInt>(), Promise<UInt>())
        let threads = await loop.list(on: lane) {
            lane.enqueue { _ in
                next.keep(NativeThread.current)
                lane.enqueue { _ in last.keep(NativeThread.current) }
            }
        }
        #expect(threads.lists == threads.runs)
        #expect(await next.value == threads.runs)
        #expect(await last.value != threads.runs)
        loop.turn(nil)
        lane.close()
    }

    /// Lists a job when it goes, as a module's `deinit` may.
    private final class Lister: Sendable {
        let lane: Lane
        let ran: Promise<UInt>

        init(_ lane: Lane, _ ran: Promise<UInt>) { (self.lane, self.ran) = (lane, ran) }

        deinit { lane.enqueue { [ran] _ in ran.keep(NativeThread.current) } }
    }

    @Test("a job that is listed when a carried one is released is run")
    func listsWhenReleased() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let ran = Promise<UInt>()
        loop.turn {
            let lister = Lister(lane, ran)
            lane.enqueue { _ in withExtendedLifetime(lister) {} }
        }
        _ = await ran.value
        loop.turn(nil)
        lane.close()
    }

    @Test("a job that the last turn lists is run by the lane's thread")
    func lastTurn() async throws {
        let lane = try lane()
        let ran = Promise<UInt>()
        let duty = Duty("loop", of: lane) { _ in
            lane.enqueue { _ in ran.keep(NativeThread.current) }
            return .end
        }
        let lists = Promise<UInt>()
        try NativeThread.start(name: "loop") {
            lists.keep(NativeThread.current)
            duty.run()
        }
        #expect(await ran.value != lists.value)
        lane.close()
    }

    @Test("the loop goes on elsewhere while a module is slow, and the lane waits for it")
    func slow() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .milliseconds(1))
        await loop.warmUp(lane)
        let (door, next, done) = (Door(), Promise<UInt>(), Promise<Bool>())
        let isOpen = Guarded(false)
        let first = await loop.enter(slot, on: lane, until: door)
        loop.turn { next.keep(NativeThread.current) }
        #expect(await next.value != first)
        loop.turn { lane.enqueue { _ in done.keep(isOpen.withLock { $0 }) } }
        isOpen.withLock { $0 = true }
        door.open()
        #expect(await done.value)
        // The first thread stands by again: the second one may carry.
        await loop.warmUp(lane)
        loop.turn(nil)
        lane.close()
    }

    @Test("the loop goes on elsewhere when the lane is taken over, and so does the lane")
    func takenOver() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let (door, next) = (Door(), Promise<UInt>())
        let stuck = await loop.enter(slot, on: lane, until: door)
        loop.turn { lane.enqueue { _ in next.keep(NativeThread.current) } }
        time.advance(by: .seconds(60))
        #expect(await next.value != stuck)
        #expect(lane.isOverdue(slot))
        door.open()
        await loop.warmUp(lane)
        #expect(!lane.isOverdue(slot))
        loop.turn(nil)
        lane.close()
    }

    /// Else a delivery would look like an earlier one that the watchdog has seen.
    @Test("the lane's own thread counts on from a carrier's deliveries")
    func countsOn() async throws {
        let lane = try lane()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let door = Door()
        door.open()
        _ = await loop.enter(slot, on: lane, until: door)
        let deliveries = Promise<UInt32>()
        loop.turn {
            lane.enqueue { _ in }
            lane.enqueue { _ in deliveries.keep(lane.ownership.delivery) }
        }
        #expect(await deliveries.value == 1)
        loop.turn(nil)
        await loop.ended.value
        lane.close()
    }

    @Test("a lane that is closed in a carried job ends")
    func closed() async throws {
        let ended = Promise<Void>()
        struct Closing: LaneDelegate {
            let ended: Promise<Void>

            func closed(on _: LaneThread) { ended.keep(()) }
        }
        let lane = Lane(
            limits: Watchdog.Limits(), time: time, delegate: Closing(ended: ended))
        try lane.start()
        let loop = try Loop(of: lane, patience: .seconds(3600))
        await loop.warmUp(lane)
        let threads = await loop.list(on: lane) { lane.close() }
        #expect(threads.lists == threads.runs)
        await ended.value
        loop.turn(nil)
        await loop.ended.value
    }
}
