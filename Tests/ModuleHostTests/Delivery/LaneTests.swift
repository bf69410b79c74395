import AppService
import TestSupport
import Testing

@testable import ModuleHost

/// The lane by itself.
@Suite("Lane", .timeLimit(.minutes(5)))
struct LaneTests {
    /// Looks at the lane when it goes, as a module's `deinit` may.
    private final class Curious: Sendable {
        let lane: Lane
        let gone: Promise<Int>

        init(_ lane: Lane, _ gone: Promise<Int>) {
            self.lane = lane
            self.gone = gone
        }

        deinit { gone.keep(lane.lateCells.count) }
    }

    @Test("what a job holds is let go of outside of the lane's lock")
    func letGo() async throws {
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

    @Test("work for a lane that was closed is abandoned at once, and nobody waits for it")
    func closed() async throws {
        let lane = Lane(limits: Watchdog.Limits(), time: ManualTimeSource())
        try lane.start()
        lane.close()
        #expect(lane.serve { _ in 1 } == nil)
        let completion = Promise<Bool>()
        let gate = Gate(lane: lane)
        lane.enqueue(
            LaneErrand(gate: gate, cell: Cell(number: 1, id: nil), body: {}) { result in
                if case .failure(let error) = result { completion.keep(error is ModuleGone) }
            })
        #expect(await completion.value)
    }
}
