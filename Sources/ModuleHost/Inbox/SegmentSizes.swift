/// The sizes of the segments of the log.
struct SegmentSizes {
    private var sizes: [UInt32: Int] = [:]

    /// Returns the bytes of the log from a position on; nil for all.
    func bytes(from position: EventPosition?) -> Int {
        sizes.reduce(0) { sum, segment in
            guard let position else { return sum + segment.value }
            guard segment.key >= position.segment else { return sum }
            let isFirst = segment.key == position.segment
            return sum + max(0, segment.value - (isFirst ? Int(position.offset) : 0))
        }
    }

    /// Returns the bytes of the log between two positions.
    ///
    /// - Returns: 0 where `end` is not above `start`; missing segments in between count as empty.
    func bytes(from start: EventPosition, to end: EventPosition) -> Int {
        guard start < end else { return 0 }
        let between = sizes.reduce(0) { sum, segment in
            start.segment..<end.segment ~= segment.key ? sum + segment.value : sum
        }
        return max(0, between + Int(end.offset) - Int(start.offset))
    }

    /// Returns the position that lies a number of bytes before another one; it need not be that of an event.
    ///
    /// - Returns: The start of the first segment where there are fewer bytes.
    func position(_ bytes: Int, before end: EventPosition) -> EventPosition {
        var left = bytes
        var size = Int(end.offset)
        for number in sizes.keys.sorted(by: >) where number <= end.segment {
            if number < end.segment { size = sizes[number] ?? 0 }
            if left <= size {
                return EventPosition(segment: number, offset: UInt32(clamping: size - left))
            }
            left -= size
        }
        return EventPosition(segment: sizes.keys.min() ?? 1, offset: 0)
    }

    /// Notes the size of the newest segment.
    ///
    /// - Returns: False where another one is the newest that is known.
    mutating func note(_ end: SegmentList.End) -> Bool {
        guard sizes.keys.max() == end.segment else { return false }
        sizes[end.segment] = end.size
        return true
    }

    /// Reads the size of the newest segment, and of those whose final size is not known.
    ///
    /// - Parameter numbers: Its segments, in ascending order.
    mutating func look(at folder: InboxFolder, _ numbers: [UInt32]) throws(InboxError) {
        // The former newest segment has grown until there was another one.
        let newest = sizes.keys.max()
        var looked: [UInt32: Int] = [:]
        for number in numbers {
            let isFinal = newest.map { number < $0 } == true
            if isFinal, let size = sizes[number] {
                looked[number] = size
            } else {
                looked[number] = try folder.size(ofSegment: number)
            }
        }
        sizes = looked
    }
}
