/// The folder of the inbox, with the paths of its files and its segments.
///
/// ```
/// inbox/inbox.lock        locked (flock) to append; never the data
/// inbox/00000001.ndjson   a segment of the log; the one with the highest number is appended to
/// inbox/cursor            what is done
/// inbox/dead-letters.ndjson  what could not be delivered, and why
/// ```
///
/// Any process may read it, whether a host runs or not.
package struct InboxFolder: Sendable {
    /// The folder's path.
    package let path: String
    /// The path of the state directory.
    let statePath: String
    /// The limits of its files.
    package let limits: InboxLimits
    /// The folder itself; nil for whatever folder has the path.
    private var place: OpenFolder?

    package init(in directory: StateDirectory, limits: InboxLimits = InboxLimits()) {
        path = directory.path(of: "inbox")
        statePath = directory.path
        self.limits = limits
    }

    /// Returns the folder that the path leads to now, and no other that it may lead to later.
    ///
    /// Operations on it fail with ``InboxError/moved(path:)`` while the path leads elsewhere, so that a host
    /// whose folder was moved away writes nothing into that of its successor.
    ///
    /// - Throws: ``InboxError/unusable(_:)``, also where a symbolic link that another user created is in its
    ///   place.
    func opened() throws(InboxError) -> InboxFolder {
        var folder = self
        do throws(FileError) { folder.place = try OpenFolder(path, links: .own) } catch {
            throw .unusable(error)
        }
        return folder
    }

    /// Whether the path leads to the same folder.
    var isInPlace: Bool { place?.isInPlace ?? true }

    /// - Throws: ``InboxError/moved(path:)`` where the path leads elsewhere.
    func requirePlace() throws(InboxError) {
        if !isInPlace { throw .moved(path: path) }
    }

    package var lockPath: String { "\(path)/inbox.lock" }
    package var cursorPath: String { "\(path)/cursor" }
    package var deadLettersPath: String { "\(path)/dead-letters.ndjson" }

    /// Returns the path of a segment.
    package func path(ofSegment number: UInt32) -> String {
        let digits = "\(number)"
        return "\(path)/" + String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
            + ".ndjson"
    }

    /// Creates the folder (0700), its lock and its first segment where they are missing.
    ///
    /// A program that appends finds a segment then, and never has to create one. Where all segments were
    /// removed, the new one has a number above every one in the cursor.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    package func make() throws(InboxError) {
        do throws(FileError) {
            try makeFolders(path)
            if let parent = parentFolder(of: path) { try synchronizeFolder(parent) }
        } catch {
            throw .unusable(error)
        }
        let folder = try opened()
        try InboxLock(folder).hold(.exclusive) { () throws(InboxError) in
            guard try folder.segments().isEmpty else { return }
            _ = try folder.createSegment(folder.firstNumber())
        }
    }

    /// Returns the numbers of the segments, in ascending order.
    ///
    /// - Throws: ``InboxError/unusable(_:)``, ``InboxError/moved(path:)``.
    package func segments() throws(InboxError) -> [UInt32] {
        let names = Result { () throws(FileError) in try namesInFolder(path) }
        try requirePlace()
        do throws(FileError) {
            return try names.get().compactMap(Self.segmentNumber).sorted()
        } catch {
            throw .unusable(error)
        }
    }

    /// Removes the segments that end below `position`.
    ///
    /// The newest one always stays, so that no number is reused. Store the cursor first.
    ///
    /// - Throws: ``InboxError/unusable(_:)``, ``InboxError/moved(path:)``; some may have been removed.
    package func removeSegments(below position: EventPosition) throws(InboxError) {
        for number in try segments().dropLast() where number < position.segment {
            do throws(FileError) { try removeFile(path(ofSegment: number)) } catch {
                throw .unusable(error)
            }
        }
    }

    /// Returns the number of a segment from its name: eight digits, more where the number has more.
    static func segmentNumber(_ name: String) -> UInt32? {
        guard name.hasSuffix(".ndjson") else { return nil }
        let digits = name.utf8.dropLast(7)
        guard digits.count >= 8, digits.count == 8 || digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let number = UInt32(Substring(digits)), number > 0
        else { return nil }
        return number
    }
}

extension InboxFolder {
    /// Returns the number of the first segment of an empty folder.
    ///
    /// Called under the lock.
    func firstNumber() throws(InboxError) -> UInt32 {
        guard case .success(let cursor) = InboxCursor.load(from: self),
            let last = cursor.lastSegment
        else { return 1 }
        guard last < .max else { throw .numbersUsedUp(folder: path) }
        return last + 1
    }

    /// Creates a segment, and makes its name safe on the disk.
    ///
    /// Called under the lock.
    func createSegment(_ number: UInt32) throws(InboxError) -> SegmentFile {
        do throws(FileError) {
            let segment = try SegmentFile(creating: path(ofSegment: number), number: number)
            try synchronizeFolder(path)
            return segment
        } catch {
            throw .unusable(error)
        }
    }

    /// Removes a temporary file that a host left when it died.
    ///
    /// Called under the lock, by the host alone.
    func removeLeftovers() {
        for name in (try? namesInFolder(path)) ?? [] where name.hasSuffix(".tmp") {
            let files = ["cursor", "dead-letters.ndjson"]
            guard files.contains(where: { name.hasPrefix("\($0).") }) else { continue }
            // A file that stays does no harm.
            try? removeFile("\(path)/\(name)")
        }
    }

    /// Opens a segment; nil where there is none with this number (any more).
    func segment(_ number: UInt32, isWritable: Bool = false) throws(InboxError) -> SegmentFile? {
        let file = Result { () throws(FileError) in
            try SegmentFile(
                opening: path(ofSegment: number), number: number, isWritable: isWritable)
        }
        // Afterwards: a file that was opened is in this folder, and one that was not found is missing in this
        // folder.
        try requirePlace()
        do throws(FileError) { return try file.get() } catch {
            if error.reason == .notFound { return nil }
            throw .unusable(error)
        }
    }

    /// Returns the size of a segment in bytes; 0 if there is none.
    func size(ofSegment number: UInt32) throws(InboxError) -> Int {
        guard let segment = try segment(number) else { return 0 }
        do throws(FileError) { return try segment.state().size } catch { throw .unusable(error) }
    }
}
