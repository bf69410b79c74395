import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxProgress")
struct InboxProgressTests {
    /// A progress whose last host has left the places from 1:1 to 1:500 to one module, from 1:100 on.
    private struct CatchingUp {
        let directory: StateDirectory
        let progress: InboxProgress
        let slot: ModuleSlot
        let id: ModuleID
        let box: BlackBox
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            directory = StateDirectory(path: folder.path)
            box = try BlackBox(in: directory, app: "t")
            try box.begin()
            id = try ModuleID("com.mm.slow")
            slot = ModuleSlot(number: 1, id: id)
            box.setName(id, of: 1)
            progress = InboxProgress(box: box) {}
            progress.expect([slot], at: [id: "1:100"], upTo: "1:500")
            progress.start(at: "1:1", upTo: "1:500", again: [])
        }

        /// What the next host would find that the module has not received.
        var undelivered: BlackBox.Progress.Behind? {
            BlackBox.Contents(in: directory)?.progress?.behind[id]
        }

        func pass(to place: EventPosition) {
            progress.enter()
            progress.passed(to: place)
        }
    }

    private func undelivered(
        _ place: EventPosition, begun: Bool = false
    ) -> BlackBox.Progress.Behind { BlackBox.Progress.Behind(position: place, begun: begun) }

    @Test(
        "a module that was late and is level with the lane is behind until the last host's rest is done"
    )
    func levelWithTheLane() throws {
        let app = try CatchingUp()
        #expect(app.undelivered == undelivered("1:100"))
        app.progress.noteUndelivered(
            by: app.slot, UndeliveredEvents(first: "1:120", isBegun: true))
        #expect(app.undelivered == undelivered("1:120", begun: true))
        app.progress.noteUndelivered(by: app.slot, nil)
        #expect(app.undelivered == undelivered("1:100"))
        app.pass(to: "1:200")
        app.progress.noteUndelivered(by: app.slot, nil)
        #expect(app.undelivered == undelivered("1:200"))
        app.pass(to: "1:500")
        #expect(app.undelivered == nil)
        app.progress.noteUndelivered(by: app.slot, nil)
        #expect(app.undelivered == nil)
    }

    @Test("a module that has failed stays behind when the last host's rest is done")
    func failed() throws {
        let app = try CatchingUp()
        app.slot.status.store(.unlisted, ordering: .releasing)
        app.slot.isAwaited.store(true, ordering: .releasing)
        app.progress.noteUndelivered(by: app.slot, UndeliveredEvents(first: "1:100"))
        app.pass(to: "1:500")
        #expect(app.undelivered == undelivered("1:100"))
    }

    @Test("a module that takes the place of another is behind as that was")
    func replaced() throws {
        let app = try CatchingUp()
        let new = ModuleSlot(number: 2, id: app.id)
        app.box.setName(app.id, of: 2)
        app.pass(to: "1:200")
        app.progress.replace(app.slot, by: new)
        app.slot.status.store(.unlisted, ordering: .releasing)
        app.progress.noteUndelivered(by: app.slot, nil)
        #expect(app.undelivered == undelivered("1:200"))
        app.progress.began(InboxEntry(position: "1:300", end: "1:330", only: [app.id]))
        #expect(app.undelivered == undelivered("1:300", begun: true))
        app.pass(to: "1:500")
        #expect(app.undelivered == nil)
    }

    @Test(
        "a module that was replaced is not noted any more, unless it has failed",
        arguments: [true, false])
    func replacedNote(hasFailed: Bool) throws {
        let app = try CatchingUp()
        let new = ModuleSlot(number: 2, id: app.id)
        app.box.setName(app.id, of: 2)
        app.slot.isAwaited.store(hasFailed, ordering: .relaxed)
        app.pass(to: "1:200")
        app.progress.replace(app.slot, by: new)
        app.pass(to: "1:300")
        app.progress.enter()
        app.progress.ended(
            InboxEntry(position: "1:300", end: "1:330", only: [app.id]), EventOutcome(EventTally()))
        #expect(app.undelivered == undelivered(hasFailed ? "1:100" : "1:330"))
    }

    @Test("a module that is replaced before the log is open is behind as that was")
    func replacedBefore() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path)
        let box = try BlackBox(in: directory, app: "t")
        try box.begin()
        let id = try ModuleID("com.mm.slow")
        let slots = [1, 2].map { ModuleSlot(number: $0, id: id) }
        for slot in slots { box.setName(id, of: slot.number) }
        let progress = InboxProgress(box: box) {}
        progress.expect([slots[0]], at: [id: "1:100"], upTo: "1:500")
        progress.replace(slots[0], by: slots[1])
        progress.start(at: "1:100", upTo: "1:500", again: [])
        #expect(progress.left(for: slots[0]) == nil)
        #expect(progress.left(for: slots[1]) == "1:100"..<"1:500")
        progress.enter()
        progress.ended(
            InboxEntry(position: "1:100", end: "1:200", only: [id]), EventOutcome(EventTally()))
        #expect(
            BlackBox.Contents(in: directory)?.progress?.behind[id] == undelivered("1:200"))
    }

    @Test("a module that has nothing left to receive is not behind")
    func nothingLeft() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path)
        let box = try BlackBox(in: directory, app: "t")
        try box.begin()
        let id = try ModuleID("com.mm.slow")
        box.setName(id, of: 1)
        let progress = InboxProgress(box: box) {}
        progress.expect([ModuleSlot(number: 1, id: id)], at: [id: "1:100"], upTo: "1:500")
        progress.start(at: "1:500", upTo: "1:500", again: [])
        #expect(BlackBox.Contents(in: directory)?.progress?.behind == [:])
    }

    @Test(
        "a module that has rejoined is noted as one that never was late",
        arguments: [
            (ModuleSlot.Status.listed, true), (.rejoined, true), (.overdue, false),
            (.unlisted, false),
        ])
    func rejoined(status: ModuleSlot.Status, isNoted: Bool) throws {
        let app = try CatchingUp()
        app.slot.status.store(status, ordering: .releasing)
        let entry = InboxEntry(position: "1:150", end: "1:180", only: [app.id])
        app.progress.began(entry)
        #expect(
            app.undelivered == (isNoted ? undelivered("1:150", begun: true) : undelivered("1:100")))
        app.progress.enter()
        app.progress.ended(entry, EventOutcome(EventTally()))
        #expect(app.undelivered == (isNoted ? undelivered("1:180") : undelivered("1:100")))
    }
}
