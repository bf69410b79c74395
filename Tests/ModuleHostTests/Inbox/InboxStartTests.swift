import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("InboxStart")
struct InboxStartTests {
    private static let slow = "com.mm.slow"

    /// What a black box says that was killed in the hands of `com.mm.b`, the second of three modules.
    private func contents(
        next: EventPosition?, current: EventPosition? = nil, sequence: UInt64 = 1,
        behind: [String: BlackBox.Progress.Behind] = [:]
    ) throws -> BlackBox.Contents {
        var progress = BlackBox.Progress(
            current: current.map { BlackBox.Progress.InHand(position: $0, attempt: 1) }, next: next,
            cursorSequence: sequence)
        for (id, place) in behind { progress.behind[try ModuleID(id)] = place }
        return BlackBox.Contents(
            processID: 4711, startedAt: WallTime(seconds: 0), app: "t", state: .running,
            isOfThisBoot: true, activity: .event(.push), module: try ModuleID("com.mm.b"),
            callers: [], outermost: try ModuleID("com.mm.b"),
            order: try ["com.mm.a", "com.mm.b", "com.mm.c"].map { try ModuleID($0) },
            overdue: [], startingUp: [], progress: progress)
    }

    private func start(
        _ inbox: InboxUnderTest, _ contents: BlackBox.Contents? = nil
    ) throws -> InboxStart {
        try InboxStart(in: inbox.folder, InboxCursor.load(from: inbox.folder), contents)
    }

    @Test("an event in hand goes to the module that had it, and to those after it")
    func current() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        var cursor = InboxCursor()
        try cursor.store(in: inbox.folder)
        let start = try start(inbox, contents(next: "1:10", current: "1:10"))
        #expect(start.next == "1:11")
        #expect(
            start.modules == [try ModuleID("com.mm.b"): "1:10", try ModuleID("com.mm.c"): "1:10"])
        #expect(start.attempts == ["1:10": 1])
        #expect(start.notices.isEmpty)
    }

    @Test("the next position after the last of a segment is in the next segment")
    func lastPosition() throws {
        for (current, next, attempts) in [
            ("1:4294967295", "2:0", 1),
            // Beyond the end of the log: the box is not used.
            ("4294967295:4294967295", "1:0", nil),
        ] as [(EventPosition, EventPosition, Int?)] {
            let inbox = try InboxUnderTest()
            try inbox.put(line(ofLength: 100))
            var later = InboxCursor(next: "4:0")
            try later.store(in: inbox.folder)
            _ = try start(inbox)
            var cursor = InboxCursor(next: "1:0")
            try cursor.store(in: inbox.folder)
            let box = try contents(next: current, current: current, sequence: cursor.sequence)
            let start = try start(inbox, box)
            #expect(start.next == next)
            #expect(start.attempts[current] == attempts)
        }
    }

    @Test("what the black box says is added to the cursor once")
    func addedOnce() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        var cursor = InboxCursor(attempts: ["1:10": 1])
        try cursor.store(in: inbox.folder)
        // Killed between the note that the cursor is to be written and the writing.
        let box = try contents(
            next: "1:50", sequence: cursor.sequence + 1,
            behind: ["com.mm.b": BlackBox.Progress.Behind(position: "1:10", begun: true)])
        for _ in 1...3 {
            let log = LogRecorder()
            _ = try Inbox(
                inbox.folder, Inbox.Limits(), after: box, box: nil, log: log.log,
                time: ManualTimeSource())
            let stored = try InboxCursor.load(from: inbox.folder).get()
            #expect(stored.attempts == ["1:10": 2])
            #expect(stored.next == "1:50")
        }
    }

    @Test("after the machine went down, what the log has from the cursor on may be repeated")
    func machineDown() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        var cursor = InboxCursor(next: "1:30")
        try cursor.store(in: inbox.folder)
        var box = try contents(next: "1:60", sequence: cursor.sequence)
        #expect(try !start(inbox, box).isUncertain(at: "1:60"))
        (box.isOfThisBoot, box.progress) = (false, nil)
        for contents in [box, nil] {
            let start = try start(inbox, contents)
            #expect(start.next == "1:30")
            #expect(start.isUncertain(at: "1:30") && start.isUncertain(at: "1:99"))
            #expect(!start.isUncertain(at: "1:100"))
        }
        // Nothing lies between them, or no host has run.
        cursor.next = "1:100"
        try cursor.store(in: inbox.folder)
        #expect(try start(inbox, box).uncertainBefore == nil)
        try removeFile(inbox.folder.cursorPath)
        #expect(try start(inbox).uncertainBefore == nil)
        #expect(try start(inbox, box).uncertainBefore == "1:100")
    }

    @Test("that is known to the hosts after the next one, until all of it is done")
    func machineDownBefore() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        var cursor = InboxCursor(next: "1:30")
        try cursor.store(in: inbox.folder)
        _ = try Inbox(
            inbox.folder, Inbox.Limits(), after: nil, box: nil, log: LogRecorder().log,
            time: ManualTimeSource())
        let stored = try InboxCursor.load(from: inbox.folder).get()
        #expect(stored.uncertainBefore == "1:100")
        let box = try contents(next: "1:60", sequence: stored.sequence)
        let next = try start(inbox, box)
        #expect(next.next == "1:60" && next.isUncertain(at: "1:60"))
    }

    @Test("a URL whose answer had not come may be repeated, too, after a stop in order")
    func unanswered() throws {
        let inbox = try InboxUnderTest()
        try inbox.put(line(ofLength: 100))
        var cursor = InboxCursor(next: "1:30", unanswered: ["1:10"])
        try cursor.store(in: inbox.folder)
        var box = try contents(next: "1:30", sequence: cursor.sequence)
        box.state = .ended
        box.progress?.unanswered = ["1:10": true]
        let start = try start(inbox, box)
        #expect(start.isUncertain(at: "1:10") && !start.isUncertain(at: "1:30"))
    }

    @Test("past the end of the log a new segment is begun, and nothing of it counts as done")
    func pastEnd() throws {
        for (next, segments) in [("1:900", [1, 2]), ("4:0", [1, 5])] as [(EventPosition, [UInt32])]
        {
            let inbox = try InboxUnderTest()
            try inbox.put(line(ofLength: 100))
            var cursor = InboxCursor(
                next: next, modules: [try ModuleID(Self.slow): next], attempts: [next: 1])
            try cursor.store(in: inbox.folder)
            let start = try start(inbox)
            #expect(try inbox.folder.segments() == segments)
            #expect(start.next == "1:100")
            #expect(start.modules == [try ModuleID(Self.slow): "1:100"])
            #expect(start.attempts == [:])
            #expect(
                start.notices == [
                    "inbox truncated: expected \(next), found the end at 1:100; segments were removed "
                        + "or cut. Continuing in segment \(segments[1])"
                ])
        }
    }

    @Test("the last number there is cannot be gone beyond")
    func lastNumber() throws {
        let inbox = try InboxUnderTest()
        var cursor = InboxCursor(next: EventPosition(segment: .max, offset: 1))
        try cursor.store(in: inbox.folder)
        let error = #expect(throws: InboxError.self) { try start(inbox) }
        #expect(error == .numbersUsedUp(folder: inbox.folder.path))
        // Nor is it begun anew where all segments were taken away.
        try inbox.folder.removeAllSegments()
        let other = #expect(throws: InboxError.self) { try inbox.folder.make() }
        #expect(other == .numbersUsedUp(folder: inbox.folder.path))
    }

    @Test("a black box that speaks of places past the end is not believed")
    func boxPastEnd() throws {
        let far = BlackBox.Progress.Behind(position: "9:0", begun: false)
        let boxes = [
            try contents(next: "9:0"), try contents(next: "1:50", current: "9:0"),
            try contents(next: "1:50", behind: [Self.slow: far]),
        ]
        for box in boxes {
            let inbox = try InboxUnderTest()
            try inbox.put(line(ofLength: 100))
            var cursor = InboxCursor(next: "1:7")
            try cursor.store(in: inbox.folder)
            let start = try start(inbox, box)
            #expect(start.next == "1:7")
            #expect(start.modules.isEmpty)
            #expect(
                start.notices == [
                    "the black box has 9:0, but the inbox ends at 1:100: only the cursor is used; "
                        + "events that were done may be delivered again"
                ])
        }
    }

    @Test("a missing cursor is said where a host has run before, and made anew")
    func missing() throws {
        let inbox = try InboxUnderTest()
        #expect(try start(inbox).notices.isEmpty)
        #expect(
            try start(inbox, contents(next: "1:0")).notices == [
                "no cursor '\(inbox.folder.cursorPath)': the inbox is read from its start"
            ])
        _ = try Inbox(
            inbox.folder, Inbox.Limits(), box: nil, log: LogRecorder().log,
            time: ManualTimeSource())
        #expect(try InboxCursor.load(from: inbox.folder).get().next == nil)
    }

    @Test("what dead hosts were writing is removed, and nothing else")
    func leftovers() throws {
        let inbox = try InboxUnderTest()
        let others = ["cursor", "notes.tmp", "dead-letters.ndjson"]
        for name in ["cursor.4711-1.tmp", "dead-letters.ndjson.4711-2.tmp"] + others {
            try inbox.state.write("{}", to: "inbox/\(name)")
        }
        _ = try start(inbox)
        #expect(
            try namesInFolder(inbox.folder.path).sorted()
                == ["00000001.ndjson", "cursor", "dead-letters.ndjson", "inbox.lock", "notes.tmp"])
    }

    @Test("a writer does not go back to a lower segment when the newest is taken away")
    func neverBack() throws {
        let inbox = try InboxUnderTest()
        try inbox.put("\n", in: 3)
        let writer = try InboxWriter(inbox.folder)
        #expect(try writer.append("{}") == ["3:2"])
        try removeFile(inbox.folder.path(ofSegment: 3))
        #expect(try writer.append("{}") == ["4:1"])
    }
}
