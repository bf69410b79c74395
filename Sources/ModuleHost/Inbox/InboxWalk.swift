/// A walk over the log, line by line and from segment to segment, up to a given extent.
struct InboxWalk {
    /// What is being done with the line at hand.
    private enum Line {
        /// It is looked for whole.
        case reading
        /// It is passed over, because the walk began inside of it.
        case passing
        /// It is passed over and then reported, because it is too long; its beginning.
        case tooLong(ArraySlice<UInt8>)
    }

    private let folder: InboxFolder
    /// How many bytes to read at a time.
    private let reading: Int
    private var number: UInt32
    private var file: SegmentFile?
    /// What a segment has that is not the newest any more.
    private var finalSize: Int?
    /// Where the line at hand begins.
    private var start: Int
    /// Where nobody has looked for the end of it.
    private var searched: Int
    private var line: Line
    /// Numbers that were passed, of which there is no segment.
    private var missing: [ClosedRange<UInt32>] = []
    /// What was read, and where it stands in the segment.
    private var chunk: [UInt8] = []
    private var chunkStart = 0

    /// Begins at `position`; inside of a line, behind it.
    init(_ folder: InboxFolder, at position: EventPosition, reading: Int) {
        self.folder = folder
        self.reading = reading
        number = position.segment
        start = Int(position.offset)
        // The byte before tells whether a line begins here: its newline ends the passing.
        searched = max(0, start - 1)
        line = start == 0 ? .reading : .passing
    }

    /// Where the next line is looked for.
    var position: EventPosition { place(start) }

    private func place(_ offset: Int) -> EventPosition {
        EventPosition(segment: number, offset: UInt32(clamping: offset))
    }

    /// Takes the numbers of the segments that were not there, though one behind them was.
    mutating func takeMissing() -> [ClosedRange<UInt32>] {
        defer { missing = [] }
        return missing
    }

    /// Takes the next line that is not empty.
    ///
    /// - Returns: Nil where the extent has no further whole line.
    /// - Throws: ``InboxError/unusable(_:)``; the walk can go on.
    mutating func next(in extent: InboxExtent) throws(InboxError) -> InboxItem? {
        while let file = try openSegment(in: extent) {
            while let end = chunk.firstIndex(of: UInt8(ascii: "\n"), from: searched - chunkStart) {
                if let item = takeLine(endingAt: chunkStart + end) { return item }
            }
            let isNewest = number == extent.segments.last
            let size = try isNewest ? extent.newestSize : sizeWhenFinal(of: file)
            let end = min(size, Int(UInt32.max))
            if try read(file, upTo: end) { continue }
            if isNewest { return nil }
            let rest = start < end || size > end ? unfinished(at: end, of: size) : nil
            begin(number &+ 1)
            if let rest { return rest }
        }
        return nil
    }

    /// Takes the line at hand, whose newline stands at `end`; nil where there is nothing to hand out.
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

    /// What stands at the end of a segment to which nothing will be appended.
    private func unfinished(at end: Int, of size: Int) -> InboxItem? {
        let fault = InboxFault(size > end ? .beyondReach : .torn)
        switch line {
        case .passing: return size > end ? item([], to: end, fault) : nil
        case .tooLong(let beginning): return item(beginning, to: end, fault)
        case .reading: return item(excerpt(of: chunk[(start - chunkStart)...]), to: end, fault)
        }
    }

    private func item(
        _ bytes: ArraySlice<UInt8>, to end: Int, _ fault: InboxFault?
    ) -> InboxItem {
        InboxItem(position: place(start), end: place(end), bytes: bytes, fault: fault)
    }

    private func tooLong(bytes: Int) -> InboxFault {
        InboxFault(.tooLong(bytes: bytes, limit: folder.limits.line))
    }

    /// The beginning of a line, and not all that was read with it.
    private func excerpt(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Array(bytes.prefix(folder.limits.excerpt))[...]
    }

    // MARK: Reading

    /// Reads more of the segment, of which nothing is left to be searched.
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
            // From the start of the line: what was read of it is read again, and nothing is joined.
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

    /// The segment at hand, or the next one there is.
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
