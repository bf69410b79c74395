/// The progress through the log, as the file `cursor` stores it.
///
/// ```
/// {"next":"3:4096","modules":{"com.mm.push":"2:17"},"attempts":{"3:4096":1},"unanswered":["3:17"],"sequence":42}
/// ```
package struct InboxCursor: Hashable, Sendable {
    /// The first event that the lane had not begun; nil for the start of the log.
    ///
    /// All modules but those in ``modules`` have received the events before it.
    package var next: EventPosition?
    /// The modules that are behind, with the first event that each has not completed.
    package var modules: [ModuleID: EventPosition]
    /// The number of times that the delivery of an event was begun and not ended.
    package var attempts: [EventPosition: Int]
    /// The events before ``next`` that were delivered, and whose answers have not come.
    package var unanswered: Set<EventPosition>
    /// The end of the events that an earlier host may have delivered although they count as not done here.
    ///
    /// Set if the machine went down; nil if there are none.
    package var uncertainBefore: EventPosition?
    /// A number that grows with each ``store(in:)``.
    package private(set) var sequence: UInt64 = 0

    /// The segment up to which the data is known to be on the disk.
    private var synchronized: UInt32?

    package init(
        next: EventPosition? = nil, modules: [ModuleID: EventPosition] = [:],
        attempts: [EventPosition: Int] = [:], unanswered: Set<EventPosition> = [],
        uncertainBefore: EventPosition? = nil
    ) {
        self.uncertainBefore = uncertainBefore
        self.unanswered = unanswered
        self.next = next
        self.modules = modules
        self.attempts = attempts
    }

    /// The lowest position that is still needed; segments below it can be removed.
    package var lowest: EventPosition? {
        guard let next else { return nil }
        return unanswered.reduce(modules.values.reduce(next, min), min)
    }

    /// The highest segment that the cursor names.
    var lastSegment: UInt32? {
        ([next].compactMap(\.self) + modules.values + attempts.keys + unanswered).map(\.segment)
            .max()
    }
}

/// The reason why there is no usable cursor; the inbox is then read from its start.
package enum InboxCursorError: Error, Hashable, Sendable {
    /// There is no cursor, as before the first event.
    case missing(path: String)
    /// The cursor cannot be read, or its content is not valid.
    case broken(path: String, String)
}

extension InboxCursorError: CustomStringConvertible {
    /// One line: the problem, and the consequence.
    package var description: String {
        switch self {
        case .missing(let path):
            "no cursor '\(path)': the inbox is read from its start"
        case .broken(let path, let error):
            "the cursor '\(path)' is broken (\(error)): the inbox is read from its start, "
                + "and events that were done are delivered again"
        }
    }
}

extension InboxCursor {
    private static let sizeLimit = 16 << 20

    /// Reads the cursor.
    package static func load(from folder: InboxFolder) -> Result<InboxCursor, InboxCursorError> {
        let path = folder.cursorPath
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: path, limit: sizeLimit, links: .refused)
        } catch {
            return .failure(
                error.reason == .missing
                    ? .missing(path: path) : .broken(path: path, error.reason.description))
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes) } catch {
            return .failure(.broken(path: path, error.diagnostics.first?.description ?? "no JSON"))
        }
        do throws(Malformed) { return .success(try InboxCursor(value)) } catch {
            return .failure(.broken(path: path, error.reason))
        }
    }

    /// Replaces the file, atomically and safely on the disk; the data that it refers to is synchronized
    /// before.
    ///
    /// - Parameters:
    ///   - folder: The inbox.
    ///   - count: The increment of its sequence number. More than one means that no black box continues the
    ///     cursor before.
    /// - Throws: ``InboxError/unusable(_:)``, ``InboxError/moved(path:)``: the file is unchanged.
    package mutating func store(
        in folder: InboxFolder, advancing count: UInt64 = 1
    ) throws(InboxError) {
        try synchronizeData(in: folder)
        try folder.requirePlace()
        sequence += count
        do throws(FileError) {
            try writeFile(text, to: folder.cursorPath, mode: 0o600, synchronized: true)
        } catch {
            sequence -= count
            throw .unusable(error)
        }
    }

    /// Synchronizes the data, which a program that was cut off, or that does not follow the protocol, may
    /// have left unsafe.
    private mutating func synchronizeData(in folder: InboxFolder) throws(InboxError) {
        guard let last = next?.segment else { return }
        let first = synchronized ?? 0
        let unsafe = try folder.segments().drop { $0 < first }.prefix { $0 <= last }
        for number in unsafe {
            guard let segment = try folder.segment(number) else { continue }
            do throws(FileError) { try segment.synchronize() } catch { throw .unusable(error) }
        }
        synchronized = last
    }

    private var text: [UInt8] {
        var json = JSONWriter()
        json.object {
            if let next { $0.member("next", next.description) }
            if !modules.isEmpty {
                $0.member("modules") { object in
                    object.object {
                        for (module, position) in modules.sorted(by: { $0.key.text < $1.key.text })
                        {
                            $0.member(module.text, position.description)
                        }
                    }
                }
            }
            if !attempts.isEmpty {
                $0.member("attempts") { object in
                    object.object {
                        for (position, count) in attempts.sorted(by: { $0.key < $1.key }) {
                            $0.member(position.description, count)
                        }
                    }
                }
            }
            if !unanswered.isEmpty {
                $0.member("unanswered", unanswered.sorted().map(\.description))
            }
            if let uncertainBefore {
                $0.member("uncertainBefore", uncertainBefore.description)
            }
            $0.member("sequence", Int(clamping: sequence))
        }
        json.newline()
        return json.bytes
    }

    /// Reads the file's text.
    private init(_ value: JSONValue) throws(Malformed) {
        guard value.kind == .object, let sequence = value["sequence"]?.int, sequence >= 0 else {
            throw Malformed("'sequence' is not a number")
        }
        self.init()
        self.sequence = UInt64(sequence)
        if let next = value["next"] {
            guard let position = next.string.flatMap(EventPosition.init(_:)) else {
                throw Malformed("'next' is not a position")
            }
            self.next = position
            synchronized = position.segment
        }
        if let end = value["uncertainBefore"] {
            guard let position = end.string.flatMap(EventPosition.init(_:)) else {
                throw Malformed("'uncertainBefore' is not a position")
            }
            uncertainBefore = position
        }
        for member in Self.members(of: value["modules"]) {
            guard let module = try? ModuleID(member.key),
                let position = member.value.string.flatMap(EventPosition.init(_:))
            else { throw Malformed("'modules' has no position for \(quoted(member.key))") }
            modules[module] = position
        }
        for member in Self.members(of: value["attempts"]) {
            guard let position = EventPosition(member.key), let count = member.value.int else {
                throw Malformed("'attempts' has no number for \(quoted(member.key))")
            }
            attempts[position] = count
        }
        for element in value["unanswered"].map({ Array($0.elements) }) ?? [] {
            guard let position = element.string.flatMap(EventPosition.init(_:)) else {
                throw Malformed("'unanswered' has \(quoted(element.text)), which is not a position")
            }
            unanswered.insert(position)
        }
    }

    private static func members(of value: JSONValue?) -> [JSONValue.Member] {
        value.map { Array($0.members) } ?? []
    }

    private struct Malformed: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }
}
