/// The fate of one event of the inbox, read from the files of a state directory, whether a host runs or not.
///
/// The black box of a running host has its progress exact to the event.
package struct EventStory: Hashable, Sendable {
    package enum Fate: Hashable, Sendable {
        /// No module has it yet; as many lines of the log come before it, counted up to ``EventStory/mostBefore``.
        case pending(before: Int)
        /// This module handles it, or handled it when the host died; nil between two modules.
        case inHand(in: ModuleID?)
        /// These modules have yet to handle it, or to come to it; all others are past it.
        case awaited([ModuleID])
        /// The modules have it, and the answer of the one that has taken its URL is to come.
        case unanswered
        /// It is not delivered: an earlier one has its id.
        case duplicate(of: EventPosition)
        /// It was taken out of the dead letters, and sent once more.
        case retried(as: EventPosition)
        /// It is not an event, for this reason, and becomes a dead letter.
        case invalid(String)
        /// It is a dead letter for all modules.
        case deadLetter
        /// Each module that it was for has handled it, or it was dropped from the dead letters.
        case done
        /// The log does not go back so far any more: it is done, or was dropped from the dead letters.
        case removed
    }

    package let position: EventPosition
    package var fate: Fate
    /// The newest of its dead letters, with all the modules that they are for; nil where there is none.
    package var letter: DeadLetter?
    /// The kind; nil where the line is not a record, or is not there any more.
    package var kind: EventKind?
    /// The topic of a message.
    package var topic: String?
    /// The id that its sender gave it.
    package var id: String?
    /// The place that it comes from, in its sender's words.
    package var source: String?
    var trace: TraceID?
    /// The time of the event, as its sender gives it.
    package var time: String?
    /// The number of times that its delivery was begun and not ended.
    package var attempts = 0

    /// The greatest number of lines that are counted before a pending event.
    package static let mostBefore = 100_000

    private init(_ position: EventPosition, _ fate: Fate) {
        (self.position, self.fate) = (position, fate)
    }

    /// Finds the event at a position, or with an id.
    ///
    /// A search for an id reads the log from its start to its end.
    ///
    /// - Parameters:
    ///   - name: The position, or the id that the sender gave it.
    ///   - directory: The state directory.
    ///   - isRunning: Whether a host runs on it: what it has begun is not an attempt that failed.
    /// - Returns: Nil where there is no such event, or no inbox.
    /// - Throws: ``InboxError/unusable(_:)`` where the files cannot be read.
    package static func find(
        _ name: String, in directory: StateDirectory, isRunning: Bool
    ) throws(InboxError) -> EventStory? {
        let folder = InboxFolder(in: directory)
        guard fileExists(folder.path) else { return nil }
        let search = try Search(folder, BlackBox.Contents(in: directory), isRunning: isRunning)
        if let position = EventPosition(name), let story = try search.story(at: position) {
            return story
        }
        return try search.story(ofID: name)
    }

    private mutating func describe(_ record: InboxRecord) {
        kind = record.event.kind
        topic = record.event.topic
        (id, source, time) = (record.id, record.source, record.time)
        trace = record.trace?.id
    }

    /// A search in the files of an inbox.
    private struct Search {
        let folder: InboxFolder
        let box: BlackBox.Contents?
        let isRunning: Bool
        let start: InboxStart
        let firstSegment: UInt32?
        let letters: [DeadLetter]

        init(
            _ folder: InboxFolder, _ box: BlackBox.Contents?, isRunning: Bool
        ) throws(InboxError) {
            (self.folder, self.box, self.isRunning) = (folder, box, isRunning)
            let cursor = InboxCursor.load(from: folder)
            // Last: a host that runs may append and deliver meanwhile.
            let extent = try InboxExtent(of: folder)
            start = InboxStart(cursor, box, end: extent.end)
            firstSegment = extent.segments.first
            letters = try DeadLetters(folder).contents().events
        }

        func story(at position: EventPosition) throws(InboxError) -> EventStory? {
            if let item = try InboxReader(folder).read(at: position), item.position == position {
                return try story(of: item)
            }
            if let letter = letter(at: position) { return story(of: letter) }
            return firstSegment.map { position.segment < $0 } == true
                ? EventStory(position, .removed) : nil
        }

        /// Returns the story of the newest event with an id that is not a duplicate of another.
        func story(ofID id: String) throws(InboxError) -> EventStory? {
            let same = try items(withID: id)
            if let item = same.delivered { return try story(of: item, same) }
            return letters.last { $0.id == id }.flatMap { letter(at: $0.position) }.map(story)
        }

        /// Returns the newest dead letter of a position, with the modules of all of them: each module may have its own.
        private func letter(at position: EventPosition) -> DeadLetter? {
            let all = letters.filter { $0.position == position }
            guard var letter = all.last else { return nil }
            let modules = all.compactMap(\.modules)
            letter.modules =
                modules.count < all.count
                ? nil : Set(modules.flatMap(\.self)).sortedByText(\.text)
            return letter
        }

        private func story(of letter: DeadLetter) -> EventStory {
            var story = EventStory(letter.position, .removed)
            take(letter, into: &story)
            if let record = try? InboxRecord(parsing: letter.line[...]) { story.describe(record) }
            return story
        }

        private func take(_ letter: DeadLetter, into story: inout EventStory) {
            story.letter = letter
            story.id = story.id ?? letter.id
            if letter.modules == nil { (story.fate, story.attempts) = (.deadLetter, 0) }
        }

        /// - Parameter same: The events with its id, where they are known.
        private func story(
            of item: InboxItem, _ same: SameID? = nil
        ) throws(InboxError) -> EventStory {
            let position = item.position
            var story = EventStory(position, .done)
            let record: InboxRecord?
            do throws(InboxRecordError) {
                record = try InboxRecord(item)
            } catch {
                (record, story.fate) = (nil, .invalid("\(error)"))
            }
            if let record {
                story.describe(record)
                story.fate = try fate(of: record, at: position, same)
            }
            let current = isRunning && isBegun(at: position) ? 1 : 0
            story.attempts = max(0, (start.attempts[position] ?? 0) - current)
            if let letter = letter(at: position) { take(letter, into: &story) }
            return story
        }

        /// Returns whether the host of the black box has begun the event, and not ended it.
        private func isBegun(at position: EventPosition) -> Bool {
            guard let progress = box?.progress else { return false }
            return progress.current?.position == position
                || progress.unanswered[position] == true
                || progress.behind.values.contains { $0.begun && $0.position == position }
        }

        private func fate(
            of record: InboxRecord, at position: EventPosition, _ known: SameID?
        ) throws(InboxError) -> Fate {
            var same = known
            if same == nil, let id = record.id { same = try items(withID: id) }
            if let first = same?.first, first < position, !record.isRetried {
                return .duplicate(of: first)
            }
            if let last = same?.delivered?.position, last > position { return .retried(as: last) }
            if box?.progress?.current?.position == position, box?.state == .running {
                return .inHand(in: box?.outermost)
            }
            guard let next = start.next, position < next else {
                return .pending(before: try count(from: start.next, to: position))
            }
            if start.unanswered.contains(position) { return .unanswered }
            let waiting = start.only(at: position) ?? []
            let modules = record.modules.map { $0.filter(waiting.contains) } ?? Array(waiting)
            return modules.isEmpty ? .done : .awaited(modules.sortedByText(\.text))
        }

        /// The position of the first record with an id, and the newest one that is delivered.
        private typealias SameID = (first: EventPosition?, delivered: InboxItem?)

        /// Returns the records with an id; reads the whole log.
        private func items(withID id: String) throws(InboxError) -> SameID {
            var found: SameID = (nil, nil)
            let reader = try InboxReader(folder)
            while true {
                let items = try reader.next(atMost: 4096)
                for item in items {
                    // Fast: only the id of a line is read.
                    guard item.error == nil, let text = IDScanner.id(in: item.bytes),
                        text.elementsEqual(id.utf8), let record = try? InboxRecord(item),
                        record.id == id, found.first == nil || record.isRetried
                    else { continue }
                    found = (found.first ?? item.position, item)
                }
                if items.isEmpty { return found }
            }
        }

        private func count(
            from start: EventPosition?, to end: EventPosition
        ) throws(InboxError) -> Int {
            let reader = try InboxReader(folder, from: start)
            var count = 0
            while count < mostBefore {
                let items = try reader.next(atMost: 4096)
                let before = items.count { $0.position < end }
                count += before
                if items.isEmpty || before < items.count { break }
            }
            return min(count, mostBefore)
        }
    }
}
