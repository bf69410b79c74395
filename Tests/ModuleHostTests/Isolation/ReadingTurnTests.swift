import Testing

@testable import ModuleHostCore

/// Every sequence of changes of the turn to read the output of a process.
@Suite("Turns to read")
struct ReadingTurnTests {
    /// A turn, and what the thread that reads, and callers, know of it.
    private struct Situation: Hashable {
        var turn = ReadingTurn.reader
        /// Whether the reading thread sleeps until it is woken, and with no other end.
        var isAsleep = false
        var isWoken = false
    }

    private func next(_ change: ReadingTurn.Change, after before: Situation) -> Situation {
        var situation = before
        if situation.turn.apply(change) { situation.isWoken = true }
        if change == .look {
            situation.isWoken = false
            situation.isAsleep = situation.turn == .caller(.asleep)
        }
        return situation
    }

    @Test("the reading thread never sleeps for a caller that has read, and no output is read twice")
    func explored() {
        var seen: Set<Situation> = [Situation()]
        var left = Array(seen)
        while let situation = left.popLast() {
            for change in ReadingTurn.Change.allCases {
                let next = next(change, after: situation)
                if seen.insert(next).inserted { left.append(next) }
            }
        }
        for situation in seen {
            if situation.isAsleep, !situation.isWoken {
                #expect(situation.turn == .caller(.asleep) || situation.turn == .ended)
            }
            if situation.turn == .reader { #expect(!situation.turn.isCallers) }
            #expect(situation.turn != .lull(.asleep))
        }
        let turns: Set<ReadingTurn> = [
            .reader, .caller(.watching), .caller(.dozing), .caller(.resting), .caller(.asleep),
            .lull(.watching), .lull(.dozing), .lull(.resting), .ended,
        ]
        #expect(Set(seen.map(\.turn)) == turns)
        // In one byte each, by which they are compared.
        #expect(turns.count == 9)
        for turn in turns {
            #expect(ReadingTurn(rawValue: turn.rawValue).map { "\($0)" } == "\(turn)")
        }
    }

    @Test("after a caller the reading thread looks at most twice before it reads")
    func returns() {
        for reader in [ReadingTurn.Reader.watching, .dozing, .resting, .asleep] {
            var turn = ReadingTurn.caller(reader)
            _ = turn.apply(.release)
            for _ in 1...2 { _ = turn.apply(.look) }
            #expect(turn == .reader)
        }
    }

    @Test("a rest has the reading thread read at once, and wakes it where it sleeps")
    func rest() {
        for (reader, wakes) in [
            (ReadingTurn.Reader.watching, false), (.dozing, true), (.resting, true),
        ] {
            var turn = ReadingTurn.lull(reader)
            let isWoken = turn.apply(.rest)
            #expect(isWoken == wakes)
            #expect(turn == .reader)
        }
    }

    @Test("output that has ended stays so")
    func ended() {
        for change in ReadingTurn.Change.allCases {
            var turn = ReadingTurn.ended
            let isWoken = turn.apply(change)
            #expect(!isWoken)
            #expect(turn == .ended)
        }
    }
}
