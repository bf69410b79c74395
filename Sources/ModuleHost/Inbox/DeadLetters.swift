/// A dead letter: an event, or a line that is not an event, that the host does not deliver.
package struct DeadLetter: Hashable, Sendable {
    /// The time in UTC, such as `2026-03-01T09:41:00.123Z`.
    package var time: String
    /// The reason, in words.
    package var reason: String
    /// The position in the inbox.
    package var position: EventPosition
    /// The offset in the segment's file, where it lies beyond the reach of positions.
    package var offset: Int?
    /// The id of the event, where it has one.
    package var id: String?
    /// The number of attempts to deliver the event, if that is the reason.
    package var attempt: Int?
    /// The modules that did not receive the event; nil for all.
    package var modules: [ModuleID]?
    /// The line as it was; of one that is too long, its beginning.
    package var line: [UInt8]

    package init(
        time: WallTime, reason: String, position: EventPosition, offset: Int? = nil,
        id: String? = nil,
        attempt: Int? = nil, modules: [ModuleID]? = nil, line: [UInt8]
    ) {
        self.time = time.iso8601
        self.reason = reason
        self.position = position
        self.offset = offset
        self.id = id
        self.attempt = attempt
        self.modules = modules
        self.line = line
    }
}

/// The file `dead-letters.ndjson`: events and lines that the host did not deliver, each with its reason.
///
/// One object a line, and no empty lines: `time`, `reason`, `position`, then `offset`, `id`, `attempt` and
/// `modules` where present, and `line`, the record as text (`base64` where it is not UTF-8). Any process may
/// use it, whether a host runs or not; the lock of the inbox synchronizes them.
package struct DeadLetters: Sendable {
    /// The contents of the file.
    package struct Contents: Hashable, Sendable {
        /// The events, in the order in which they were rejected.
        package var events: [DeadLetter] = []
        /// The number of lines that do not have the form this type writes.
        package var unreadable = 0
    }

    private let folder: InboxFolder

    package init(_ folder: InboxFolder) { self.folder = folder }

    /// Appends events, and waits until they are on the disk.
    ///
    /// - Throws: ``InboxError/unusable(_:)``: then none of them is in the file.
    package func append(_ events: [DeadLetter]) throws(InboxError) {
        guard !events.isEmpty else { return }
        var json = JSONWriter()
        for event in events {
            event.write(to: &json)
            json.newline()
        }
        let bytes = json.bytes
        try InboxLock(folder).hold(.exclusive) { () throws(InboxError) in
            do throws(FileError) { try write(bytes) } catch { throw .unusable(error) }
        }
    }

    /// Reads the file; a missing file has no contents.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    package func contents() throws(InboxError) -> Contents {
        var contents = Contents()
        for line in try lines() {
            if let event = DeadLetter(parsing: line) {
                contents.events.append(event)
            } else {
                contents.unreadable += 1
            }
        }
        return contents
    }

    /// Returns the last one of the file; nil for none, and for one that is longer than the bytes to read.
    func newest(reading bytes: Int = 64 << 10) throws(InboxError) -> DeadLetter? {
        try lines(atMost: bytes).last.flatMap(DeadLetter.init)
    }

    /// Returns the places of lines that were rejected for all modules, from the end of the file.
    ///
    /// A host that dies right after it has rejected a line reads that line again, and has to recognize it.
    ///
    /// - Parameter bytes: The number of bytes to read from the end of the file.
    /// - Returns: The places, in no particular order.
    func recentPlaces(reading bytes: Int = 8 << 20) throws(InboxError) -> Set<DeadLetterPlace> {
        var places: Set<DeadLetterPlace> = []
        for line in try lines(atMost: bytes) {
            guard let event = DeadLetter(parsing: line), event.modules == nil else { continue }
            places.insert(DeadLetterPlace(event))
        }
        return places
    }

    /// Removes events from the file, which is replaced atomically.
    ///
    /// To deliver one again, append its ``DeadLetter/lineForRetry()`` first and remove it afterwards: if the
    /// process dies in between, the event is there twice instead of not at all.
    ///
    /// - Parameter isTaken: Returns whether to remove an event.
    /// - Returns: The removed events, in order.
    /// - Throws: ``InboxError/unusable(_:)``: then all are still there.
    package func take(
        where isTaken: (DeadLetter) -> Bool
    ) throws(InboxError) -> [DeadLetter] {
        try InboxLock(folder).hold(.exclusive) { () throws(InboxError) in
            var taken: [DeadLetter] = []
            var kept: [UInt8] = []
            for line in try lines() {
                if let event = DeadLetter(parsing: line), isTaken(event) {
                    taken.append(event)
                } else {
                    kept += line
                    kept.append(UInt8(ascii: "\n"))
                }
            }
            if taken.isEmpty { return [] }
            do throws(FileError) {
                try writeFile(kept, to: folder.deadLettersPath, mode: 0o600, synchronized: true)
                try synchronizeFolder(folder.path)
            } catch {
                throw .unusable(error)
            }
            return taken
        }
    }

    /// Selects events and removes them while no other program does: two that retry the same events at once
    /// would deliver each twice.
    ///
    /// Uses a lock of the folder itself, since `body` takes the inbox's own, for moments.
    ///
    /// - Throws: The error of `body`, or ``InboxError/unusable(_:)``.
    package func choosing<Result>(
        _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        let turn = try lockFolder()
        defer { turn.unlock() }
        return try body()
    }

    private func lockFolder() throws(InboxError) -> Descriptor {
        do throws(SystemError) {
            let turn = try Descriptor(opening: folder.path)
            try turn.lock(.exclusive)
            return turn
        } catch {
            throw .unusable(FileError("lock", folder.path, error))
        }
    }

    /// Appends lines, and waits until they are on the disk.
    private func write(_ bytes: [UInt8]) throws(FileError) {
        let isNew = !fileExists(folder.deadLettersPath)
        let file = try AppendFile(path: folder.deadLettersPath, links: .refused)
        // An incomplete line must not continue into the next one.
        let isTorn = try file.endsInsideLine()
        try file.append(isTorn ? [UInt8(ascii: "\n")] + bytes : bytes)
        try file.synchronize()
        if isNew { try synchronizeFolder(folder.path) }
    }

    /// The lines of the file, without their newlines.
    ///
    /// - Parameter bytes: The number of bytes to read from the end, where the first line may be incomplete; nil
    ///   for all.
    private func lines(atMost bytes: Int? = nil) throws(InboxError) -> [ArraySlice<UInt8>] {
        let path = folder.deadLettersPath
        do throws(FileReadError) {
            let text: [UInt8]
            if let bytes {
                text = try readEnd(ofFile: path, atMost: bytes, links: .refused)
            } else {
                text = try readFile(at: path, limit: .max / 2, links: .refused)
            }
            return text.split(separator: UInt8(ascii: "\n"))
        } catch {
            if error.reason == .missing { return [] }
            throw .unreadable(error)
        }
    }
}

/// The place of a rejected line.
struct DeadLetterPlace: Hashable {
    let position: EventPosition
    /// The offset in the segment's file, where positions do not reach that far.
    let offset: Int?

    init(_ event: DeadLetter) { (position, offset) = (event.position, event.offset) }
}

extension DeadLetter {
    /// Returns the line that makes the event be delivered once more, to the modules that did not receive it.
    ///
    /// - Throws: The error of the line, where it is not a record.
    package func lineForRetry() throws(InboxRecordError) -> [UInt8] {
        try InboxRecord(parsing: line[...]).lineForRetry(for: modules)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            $0.member("time", time)
            $0.member("reason", reason)
            $0.member("position", position.description)
            if let offset { $0.member("offset", offset) }
            if let id { $0.member("id", id) }
            if let attempt { $0.member("attempt", attempt) }
            if let modules { $0.member("modules", modules) }
            if let text = String(validating: line, as: UTF8.self) {
                $0.member("line", text)
            } else {
                $0.member("base64", Base64.text(of: line))
            }
        }
    }

    fileprivate init?(parsing line: ArraySlice<UInt8>) {
        guard let value = try? JSONValue(parsing: Array(line)),
            let time = value["time"]?.string, let reason = value["reason"]?.string,
            let position = value["position"]?.string.flatMap(EventPosition.init(_:)),
            let line = value["line"]?.string.map({ Array($0.utf8) })
                ?? value["base64"]?.string.flatMap(Base64.bytes)
        else { return nil }
        self.time = time
        self.reason = reason
        self.position = position
        self.line = line
        offset = value["offset"]?.int
        id = value["id"]?.string
        attempt = value["attempt"]?.int
        if let names = value["modules"] {
            let modules = names.elements.compactMap { $0.string.flatMap { try? ModuleID($0) } }
            // Otherwise it would be delivered to other modules than those that missed it.
            guard modules.count == names.count, !modules.isEmpty else { return nil }
            self.modules = modules
        }
    }
}
