/// The fate of one event of the inbox, read from the files of a state directory, whether a host runs or not.
///
/// The black box of a running host has its progress exact to the event.
package struct EventStory: Hashable, Sendable {
    package enum Fate: Hashable, Sendable {
        /// No module has it yet; as many lines of the log come before it, counted up to ``EventStory/mostBefore``.
        case pending(before: Int)
        /// These modules have yet to handle it, all others have.
        case awaited([ModuleID])
        /// The modules have it, and the answer of the one that has taken its URL is to come.
        case unanswered
        /// It is not delivered: an earlier one has its id.
        case duplicate(of: EventPosition)
        /// It was moved to the dead letters, at a time, for all modules or some; the reason.
        case deadLetter(String, at: String, modules: [ModuleID]?)
        /// Each module that it was for has handled it.
        case done
        /// The log does not go back so far any more: it is done, or was dropped from the dead letters.
        case removed
    }

    package let position: EventPosition
    package var fate: Fate
    /// The kind; nil where the line is not a record, or is not there any more.
    package var kind: EventKind?
    /// The topic of a message.
    package var topic: String?
    /// The id that its sender gave it.
    package var id: String?
    /// The place that it comes from, in its sender's words.
    package var source: String?
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
    /// - Returns: Nil where there is no such event, or no inbox.
    /// - Throws: ``InboxError/unusable(_:)`` where the files cannot be read.
    package static func find(
        _ name: String, in directory: StateDirectory
    ) throws(InboxError) -> EventStory? {
        let folder = InboxFolder(in: directory)
        guard fileExists(folder.path) else { return nil }
        let extent = try InboxExtent(of: folder)
        let start = InboxStart(
            InboxCursor.load(from: folder), BlackBox.Contents(in: directory), end: extent.end)
        let search = try Search(folder: folder, extent: extent, start: start)
        if let position = EventPosition(name) { return try search.story(at: position) }
        return try search.story(ofID: name)
    }

    private mutating func describe(_ record: InboxRecord) {
        kind = record.event.kind
        if case .message(let message) = record.event.content { topic = message.topic }
        (id, source, time) = (record.id, record.source, record.time)
    }

    /// A search in the files of an inbox.
    private struct Search {
        let folder: InboxFolder
        let extent: InboxExtent
        let start: InboxStart
        let letters: [DeadLetter]

        init(folder: InboxFolder, extent: InboxExtent, start: InboxStart) throws(InboxError) {
            (self.folder, self.extent, self.start) = (folder, extent, start)
            letters = try DeadLetters(folder).contents().events
        }

        func story(at position: EventPosition) throws(InboxError) -> EventStory? {
            if let letter = letters.last(where: { $0.position == position }) {
                return story(of: letter)
            }
            let isRemoved = extent.segments.first.map { position.segment < $0 } ?? false
            if isRemoved { return EventStory(position, .removed) }
            guard let item = try InboxReader(folder).read(at: position), item.position == position
            else { return nil }
            return try story(of: item)
        }

        /// Returns the story of the newest event with an id that is not a duplicate of another.
        func story(ofID id: String) throws(InboxError) -> EventStory? {
            if let letter = letters.last(where: { $0.id == id }) { return story(of: letter) }
            guard let item = try items(withID: id).delivered else { return nil }
            return try story(of: item)
        }

        private func story(of letter: DeadLetter) -> EventStory {
            var story = EventStory(
                letter.position,
                .deadLetter(letter.reason, at: letter.time, modules: letter.modules))
            if let record = try? InboxRecord(parsing: letter.line[...]) { story.describe(record) }
            story.id = story.id ?? letter.id
            story.attempts = letter.attempt ?? 0
            return story
        }

        private func story(of item: InboxItem) throws(InboxError) -> EventStory {
            var story = EventStory(item.position, .done)
            let record = try? InboxRecord(item)
            if let record { story.describe(record) }
            story.attempts = start.attempts[item.position] ?? 0
            story.fate = try fate(of: item, record)
            return story
        }

        private func fate(
            of item: InboxItem, _ record: InboxRecord?
        ) throws(InboxError) -> Fate {
            let position = item.position
            if let id = record?.id, record?.isRetried == false,
                let first = try items(withID: id, before: position).first
            {
                return .duplicate(of: first)
            }
            guard let next = start.next, position < next else {
                return .pending(before: try count(from: start.next, to: position))
            }
            if start.unanswered.contains(position) { return .unanswered }
            let waiting = start.only(at: position) ?? []
            let modules = record?.modules.map { $0.filter(waiting.contains) } ?? Array(waiting)
            return modules.isEmpty ? .done : .awaited(modules.sortedByText(\.text))
        }

        /// Returns the position of the first record with an id, and the newest one that is delivered.
        private func items(
            withID id: String, before end: EventPosition? = nil
        ) throws(InboxError) -> (first: EventPosition?, delivered: InboxItem?) {
            var found: (first: EventPosition?, delivered: InboxItem?) = (nil, nil)
            let reader = try InboxReader(folder)
            while true {
                let items = try reader.next(atMost: 4096)
                for item in items {
                    if let end, item.position >= end { return found }
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
