/// A walk over the log, line by line and from segment to segment, up to a given extent.
struct InboxWalk {
    /// The state of the current line.
    private enum Line {
        /// The line is read completely.
        case reading
        /// The line is skipped, because the walk began inside it.
        case passing
        /// The line is skipped and then reported, because it is too long; its beginning.
        case tooLong(ArraySlice<UInt8>)
    }

    private let folder: InboxFolder
    /// Whether lines beyond the reach of positions are left out.
    private let staysInReach: Bool
    /// The number of bytes to read at a time.
    private let reading: Int
    private var number: UInt32
    private var file: SegmentFile?
    /// The size of a segment that is no longer the newest.
    private var finalSize: Int?
    /// The offset at which the current line begins.
    private var start: Int
    /// The offset up to which the end of the line was searched.
    private var searched: Int
    private var line: Line
    /// The numbers without a segment that were passed.
    private var missing: [ClosedRange<UInt32>] = []
    /// The bytes that were read, and their offset in the segment.
    private var chunk: [UInt8] = []
    private var chunkStart = 0

    /// Begins at `position`; if that is inside a line, behind the line.
    init(
        _ folder: InboxFolder, at position: EventPosition, reading: Int, staysInReach: Bool = false
    ) {
        self.folder = folder
        self.reading = reading
        self.staysInReach = staysInReach
        number = position.segment
        start = Int(position.offset)
        // The byte before shows whether a line begins here: its newline ends the skipping.
        searched = max(0, start - 1)
        line = start == 0 ? .reading : .passing
    }

    /// The position of the next line.
    var position: EventPosition { place(start) }

    private func place(_ offset: Int) -> EventPosition {
        EventPosition(segment: number, offset: UInt32(clamping: min(offset, reach)))
    }

    private var reach: Int { folder.limits.reach }

    /// Whether the position is inside a line that is too long, and not between lines.
    var isInLongLine: Bool { if case .tooLong = line { true } else { false } }

    /// Takes the numbers of the segments that were missing, though one behind them was not.
    mutating func takeMissing() -> [ClosedRange<UInt32>] {
        defer { missing = [] }
        return missing
    }

    /// Takes the next line that is not empty.
    ///
    /// - Parameter bytes: The number of bytes that may be read; the bytes read are subtracted.
    /// - Returns: Nil where the extent has no further complete line, or the number of bytes was reached.
    /// - Throws: ``InboxError/unusable(_:)``; the walk can continue.
    mutating func next(
        in extent: InboxExtent, reading bytes: inout Int
    ) throws(InboxError) -> InboxItem? {
        while let file = try openSegment(in: extent) {
            let isNewest = number == extent.segments.last
            while let end = endOfLine() {
                if let item = takeLine(endingAt: end) { return item }
            }
            guard bytes > 0 else { return nil }
            let size = try isNewest ? extent.newestSize : sizeWhenFinal(of: file)
            let isOver = staysInReach && start >= reach
            if !isOver, try read(file, upTo: size) {
                bytes -= chunk.count
                continue
            }
            if isNewest { return nil }
            let rest = start < size && !isOver ? unfinished(at: size) : nil
            begin(number &+ 1)
            if let rest { return rest }
        }
        return nil
    }

    /// Returns the end of the current line in the bytes that were read; nil if it is not there.
    private mutating func endOfLine() -> Int? {
        let newline = UInt8(ascii: "\n")
        if case .reading = line, searched == start {
            // There may be gigabytes of empty lines.
            let next = chunk.firstIndex(otherThan: newline, from: start - chunkStart)
            start = max(start, chunkStart + (next ?? chunk.count))
            searched = start
        }
        if staysInReach, start >= reach { return nil }
        return chunk.firstIndex(of: newline, from: searched - chunkStart).map { chunkStart + $0 }
    }

    /// Takes the current line, whose newline stands at `end`; nil where there is nothing to return.
    private mutating func takeLine(endingAt end: Int) -> InboxItem? {
        defer {
            start = end + 1
            searched = start
            line = .reading
        }
        switch line {
        case .passing:
            return nil
        case .tooLong(let beginning):
            return item(beginning, to: end + 1, tooLong(bytes: end - start))
        case .reading:
            guard start < end else { return nil }
            let bytes = chunk[start - chunkStart..<end - chunkStart]
            guard bytes.count > folder.limits.line else { return item(bytes, to: end + 1, nil) }
            return item(
                excerpt(of: bytes), to: end + 1, tooLong(bytes: bytes.count))
        }
    }

    /// Returns the rest at the end of a segment to which nothing will be appended.
    private func unfinished(at end: Int) -> InboxItem? {
        switch line {
        case .passing: nil
        case .tooLong(let beginning): item(beginning, to: end, .torn)
        case .reading: item(excerpt(of: chunk[(start - chunkStart)...]), to: end, .torn)
        }
    }

    private func item(
        _ bytes: ArraySlice<UInt8>, to end: Int, _ error: InboxRecordError.Reason?
    ) -> InboxItem {
        let diagnostics = [error, start < reach ? nil : .beyondReach].compactMap(\.self)
        return InboxItem(
            position: place(start), offset: start, end: place(end), bytes: bytes,
            error: diagnostics.isEmpty ? nil : InboxRecordError(diagnostics))
    }

    private func tooLong(bytes: Int) -> InboxRecordError.Reason {
        .tooLong(bytes: bytes, limit: folder.limits.line)
    }

    /// Returns the beginning of a line, without the rest of the bytes that were read with it.
    private func excerpt(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Array(bytes.prefix(folder.limits.excerpt))[...]
    }

    // MARK: Reading

    /// Reads more of the segment, of which everything was searched.
    ///
    /// - Returns: False where there is no more.
    private mutating func read(
        _ file: SegmentFile, upTo end: Int
    ) throws(InboxError) -> Bool {
        searched = max(searched, min(end, chunkStart + chunk.count))
        guard searched < end else { return false }
        if case .reading = line, searched - start > folder.limits.line {
            line = .tooLong(excerpt(of: chunk[(start - chunkStart)...]))
        }
        if case .reading = line {
            // From the start of the line: the bytes read of it are read again, and nothing is joined.
            let isLong = searched - start > reading / 2
            let wanted = isLong ? max(reading, folder.limits.line + 1) : reading
            try fill(file, from: start, upTo: min(end, start + wanted))
        } else {
            try fill(file, from: searched, upTo: min(end, searched + reading))
        }
        return chunkStart + chunk.count > searched
    }

    private mutating func fill(
        _ file: SegmentFile, from start: Int, upTo end: Int
    ) throws(InboxError) {
        do throws(FileError) {
            chunk = try file.read(at: start, upTo: end - start)
            chunkStart = start
        } catch {
            throw .unusable(error)
        }
    }

    // MARK: Segments

    /// Opens the current segment, or the next one.
    private mutating func openSegment(in extent: InboxExtent) throws(InboxError) -> SegmentFile? {
        if let file { return file }
        for next in extent.segments where next >= number {
            guard let found = try folder.segment(next) else { continue }
            if next > number {
                missing.append(number...(next - 1))
                begin(next)
            }
            file = found
            return found
        }
        return nil
    }

    private mutating func begin(_ number: UInt32) {
        self.number = number
        file = nil
        finalSize = nil
        start = 0
        searched = 0
        line = .reading
        chunk = []
        chunkStart = 0
    }

    private mutating func sizeWhenFinal(of file: SegmentFile) throws(InboxError) -> Int {
        if let finalSize { return finalSize }
        do throws(FileError) {
            let size = try file.state().size
            finalSize = size
            return size
        } catch {
            throw .unusable(error)
        }
    }
}
