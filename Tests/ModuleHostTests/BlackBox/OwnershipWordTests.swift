import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Ownership word of a thread")
struct OwnershipWordTests {
    private let outside = Ownership(bits: 0)
    /// With a barrier of the process, where the system has one, and without.
    private static let ways = ProcessBarrier.isAvailable ? [true, false] : [false]

    @Test("a query that fails, or does not name the barrier, does not offer it")
    func query() {
        #expect(ProcessBarrier.isOffered(by: 0x3FF))
        for answer in [-1, 0, 1, 0x3F7] { #expect(!ProcessBarrier.isOffered(by: answer)) }
    }

    @Test(
        "is taken where it is the one observed, and does not move any more",
        arguments: ways)
    func take(hasProcessBarrier: Bool) throws {
        try ProcessBarrier.prepare()
        let word = OwnershipWord(outside, hasProcessBarrier: hasProcessBarrier)
        let first = outside.entered(1)
        #expect(word.move(to: first))
        #expect(!word.take(at: outside))
        #expect(word.move(to: first.moved(to: 2)))
        #expect(!word.isTaken)
        #expect(word.take(at: first.moved(to: 2)))
        #expect(word.isTaken)
        #expect(!word.take(at: first.moved(to: 2)))
        #expect(!word.move(to: first.moved(to: 2).moved(to: 3)))
        #expect(word.load() == first.moved(to: 2))
        word.begin(outside)
        #expect(!word.isTaken)
        #expect(word.move(to: first))
    }

    /// State of the lane's owner, which the word alone protects.
    ///
    /// `@unchecked Sendable`: only the owner accesses it, and after the takeover only the taking thread. The race under
    /// the thread sanitizer would show any other access.
    private final class OwnedState: @unchecked Sendable {
        var deliveries: UInt32 = 0
    }

    /// The outcome of one round of the race.
    private struct Outcome: Equatable {
        /// The deliveries that the owner had made when the word was taken, and at the end; and the word at the end.
        var seen: UInt32
        var deliveries: UInt32
        var word: Ownership
    }

    /// A thread makes deliveries as fast as it can while another one takes the word in one of them, whichever comes.
    @Test("has one owner, however the two meet", arguments: ways)
    func race(hasProcessBarrier: Bool) async throws {
        try ProcessBarrier.prepare()
        // Without the barrier, one round in some hundred has two owners, or none.
        for _ in 0..<1000 {
            let word = OwnershipWord(outside, hasProcessBarrier: hasProcessBarrier)
            let state = OwnedState()
            let end = Promise<Void>()
            let taken = Promise<(observed: Ownership, seen: UInt32)>()
            try NativeThread.start(name: "owner") {
                Self.deliver(through: word, counting: state)
                end.keep(())
            }
            try NativeThread.start(name: "taker") {
                var observed = word.load()
                while observed.slot == 0 || !word.take(at: observed) { observed = word.load() }
                taken.keep((observed, state.deliveries))
            }
            let (observed, seen) = await taken.value
            await end.value
            // All that the owner did is seen, and it does no more.
            let outcome = Outcome(seen: seen, deliveries: state.deliveries, word: word.load())
            let expected = Outcome(
                seen: observed.delivery, deliveries: observed.delivery, word: observed)
            #expect(outcome == expected)
        }
    }

    /// Goes from the host to a module and back until the word is taken, as a fan-out does.
    private static func deliver(through word: OwnershipWord, counting state: OwnedState) {
        while word.move(to: word.load().inHost) {
            state.deliveries += 1
            let now = word.load()
            let next = now.depth == 0 ? now.entered(1) : now.moved(to: 1)
            guard word.move(to: next) else { break }
            // As long as it takes to be found in the module now and then.
            for _ in 0..<next.delivery % 32 { _ = word.load() }
        }
    }
}
