import AppService
import Synchronization
import Testing

@testable import ModuleHostCore

@Suite("Doorbell")
struct DoorbellTests {
    /// Whether the bell's descriptor becomes readable within a time.
    private func isReadable(_ bell: Doorbell, within milliseconds: Int32 = 0) -> Bool {
        var poll = PollSet()
        poll.insert(bell.descriptor, .reading)
        return poll.wait(milliseconds: milliseconds)
    }

    @Test("an owner who is awake is not signalled, and does not fall asleep")
    func awake() throws {
        let bell = try Doorbell()
        bell.ring()
        bell.ring()
        #expect(!isReadable(bell))
        #expect(!bell.fallAsleep())
        bell.wakeUp(signalled: false)
        #expect(bell.fallAsleep())
    }

    @Test("an owner who sleeps is signalled once")
    func asleep() throws {
        let bell = try Doorbell()
        #expect(bell.fallAsleep())
        #expect(!isReadable(bell))
        bell.ring()
        bell.ring()
        #expect(isReadable(bell))
        bell.wakeUp(signalled: true)
        #expect(!isReadable(bell))
        #expect(bell.fallAsleep())
    }

    @Test("no ring is lost between two threads that race")
    func race() throws {
        let there = try Doorbell()
        let back = try Doorbell()
        let rounds = 20_000
        let posted = Atomic(0)
        let taken = Atomic(0)
        /// Waits until `count` has come to `round`; false where the bell does not ring.
        @Sendable func waits(_ round: Int, _ bell: Doorbell, _ count: () -> Int) -> Bool {
            while count() < round {
                let sleeps = bell.fallAsleep()
                let isRung = isReadable(bell, within: sleeps ? 60_000 : 0)
                if sleeps, !isRung { return false }
                bell.wakeUp(signalled: isRung)
            }
            return true
        }
        let ended = try WakeSignal()
        try NativeThread.start(name: "taker") {
            for round in 1...rounds {
                guard waits(round, there, { posted.load(ordering: .relaxed) }) else { break }
                taken.store(round, ordering: .relaxed)
                back.ring()
            }
            ended.give()
        }
        for round in 1...rounds {
            posted.store(round, ordering: .relaxed)
            there.ring()
            guard waits(round, back, { taken.load(ordering: .relaxed) }) else {
                Issue.record("round \(round) was not answered")
                break
            }
        }
        #expect(ended.wait(within: .seconds(60)))
    }
}
