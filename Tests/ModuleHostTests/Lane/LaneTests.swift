import AppService
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// The lane by itself.
@Suite("Lane", .timeLimit(.minutes(10)))
struct LaneTests {
    /// Looks at the lane when it goes, as a module's `deinit` may.
    private final class Curious: Sendable {
        let lane: Lane
        let gone: Promise<Int>

        init(_ lane: Lane, _ gone: Promise<Int>) {
            self.lane = lane
            self.gone = gone
        }

        deinit { gone.keep(lane.overdueSlots.count) }
    }

    /// Has room for another thread only when it is told so.
    private final class Crowded: LaneDelegate {
        let hasRoom = Atomic(false)
        let said = LockedList<SystemError>()

        func makeStandbyThread() throws(SystemError) -> StandbyThread {
            guard hasRoom.load(ordering: .relaxed) else { throw .wouldBlock }
            return try StandbyThread()
        }

        func hasNoThread(besides _: ModuleSlot?, _ error: SystemError) { said.append(error) }
    }

    @Test("what a job holds is let go of outside of the lane's lock")
    func release() async throws {
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource())
        try lane.start()
        let gone = Promise<Int>()
        do {
            let curious = Curious(lane, gone)
            lane.enqueue { _ in withExtendedLifetime(curious) {} }
        }
        #expect(await gone.value == 0)
        lane.close()
    }

    @Test("work for a lane that was closed is abandoned at once, and no caller waits for it")
    func closed() async throws {
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource())
        try lane.start()
        lane.close()
        #expect(lane.serve { _ in 1 } == nil)
        let completion = Promise<Bool>()
        let gate = Gate(lane: lane)
        lane.enqueue(
            ModuleJob(gate: gate, slot: ModuleSlot(number: 1, id: nil), body: {}) { result in
                if case .failure(let error) = result { completion.keep(error is ModuleGone) }
            })
        #expect(await completion.value)
    }

    @Test(
        "the number of a removed module is given to no other as long as a reference holds its place"
    )
    func retiredNumbers() throws {
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource())
        var slots: [ModuleSlot?] = (1...3).map { ModuleSlot(number: UInt16($0), id: nil) }
        for slot in slots.compactMap(\.self) { lane.register(slot) }
        for slot in slots.compactMap(\.self).prefix(2) { lane.unregister(slot) }
        #expect(lane.vacantNumbers(2) == [4, 5])
        slots[1] = nil
        #expect(lane.vacantNumbers(2) == [2, 4])
        slots[0] = nil
        #expect(lane.vacantNumbers(2) == [1, 2])
    }

    @Test(
        "without a thread to go on, the lane waits for the module that is stuck, and tries again",
        arguments: [false, true])
    func noThread(comesOneLater: Bool) async throws {
        let time = ManualTimeSource()
        let crowded = Crowded()
        let lane = Lane(limits: Watchdog.Limits(), time: time, delegate: crowded)
        let slot = ModuleSlot(number: 1, id: nil)
        lane.register(slot)
        try lane.start()
        let (door, inside, next) = (Door(), Promise<Void>(), Promise<Int>())
        lane.enqueue(
            ModuleJob(gate: Gate(lane: lane), slot: slot) {
                inside.keep(())
                door.pass()
            })
        lane.enqueue { [lane] _ in next.keep(lane.overdueSlots.count) }
        await inside.value
        time.advance(by: .seconds(60))
        #expect(crowded.said.values == [.wouldBlock])
        #expect(lane.overdueSlots.isEmpty)
        if comesOneLater {
            crowded.hasRoom.store(true, ordering: .relaxed)
            time.advance(by: .seconds(1))
            #expect(await next.value == 1)
            door.open()
        } else {
            door.open()
            #expect(await next.value == 0)
        }
        lane.close()
    }
}
