import TestSupport
import Testing

@testable import ModuleHostCore

/// One module, its mailbox, and everything that can happen to it, against rules as a reader would say them.
///
/// - it is told events in order, and none twice but one that it had begun when it was given up, or that it wanted again;
/// - from the first that it has not answered on, no more are told than its window has room for, barriers are told alone, and
///   nothing is told while it wants one again later;
/// - the next host knows of each that it was told and that is to be told again;
/// - no durable event is lost: it is told, or waits, and the place that the inbox knows of the module is the first that it
///   has not returned from, at every moment;
/// - an event that another module claimed before the search reached this one is never told;
/// - in a stop nothing but its steps is told on the lane: one after the other, amid what it has not answered before.
///
/// That it is told each event that is in no inbox, too, is in `MailboxAnswersTests`, without the ends.
@Suite("Mailbox against the model")
struct MailboxModelTests {
    private static let runs = 20

    /// `MODEL_WALKS` says how many walks there are in all; `MODEL_SEED` is the only one.
    @Test("whatever happens to it, in any order", arguments: 0..<runs)
    func walks(run: Int) throws {
        if let seed = ModelRun.number("MODEL_SEED") { return try walk(seed) }
        let count = (ModelRun.number("MODEL_WALKS") ?? 20_000) / Self.runs
        for seed in run * count..<(run + 1) * count { try walk(seed) }
    }

    private func walk(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func toss() -> Bool { .random(using: &random) }
        var life = MailboxLife(window: seed.isMultiple(of: 2) ? 1 : 3, hasProcess: seed % 4 < 2)
        for _ in 0..<60 where life.broken.isEmpty {
            switch Int.random(in: 0..<17, using: &random) {
            case 15 where !life.isStopping && !life.isToCatchUp && toss() && toss():
                life.stop()
                life.note("the app stops")
            case 16 where life.isStopping, 0..<4 where life.isStopping:
                life.nextStep(answersLater: toss(), isStuck: toss())
                life.note("step")
            case 0..<4 where !life.isToCatchUp && !life.isStopping:
                let (isDurable, isClaimed) = (toss(), toss() && toss())
                try life.send(
                    durable: isDurable, barrier: toss() && toss(), claimed: isClaimed,
                    foreign: toss() && toss(),
                    answersLater: toss(), isStuck: toss(), fails: toss() && toss() && toss())
                life.note(
                    "\(isDurable ? "durable" : "event")\(isClaimed ? " for another" : "")")
            case 4, 5:
                life.goOn(answersLater: toss(), failsInRead: toss() && toss() && toss())
                life.note("goes on")
            case 6 where !life.answerable.isEmpty, 7 where !life.answerable.isEmpty,
                12 where !life.answerable.isEmpty:
                let number = life.answerable.randomElement(using: &random) ?? 0
                life.answer(number)
                life.note("answers \(number)")
            case 13:
                let durable = life.answerable.filter { life.events[$0].entry != nil }
                guard let number = durable.randomElement(using: &random) else { continue }
                life.wantAgain(number)
                life.note("wants \(number) again")
            case 14 where !life.wanted.isEmpty:
                life.resume()
                life.note("its pause is over")
            case 8 where life.mailboxes.isOpen(life.slot):
                life.takeOver(in: nil)
                life.note("is late")
            case 9 where life.canGiveBack:
                life.giveBack()
                life.note("gives back")
            case 10 where life.status != .unlisted:
                life.fail()
            case 11 where life.status == .unlisted && !life.isStopping:
                life.makeAgain(inNewSlot: toss())
                life.note("is made again")
            default: continue
            }
            life.endPause()
            life.check()
        }
        #expect(life.broken == [], "seed \(seed): \(life.acts.joined(separator: "; "))")
    }
}
