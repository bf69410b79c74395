/// The sizes of the segments of the log.
struct SegmentSizes {
    private var sizes: [UInt32: Int] = [:]

    /// Returns the bytes of the log from a position on; nil for all.
    func bytes(from place: EventPosition?) -> Int {
        sizes.reduce(0) { sum, segment in
            guard let place else { return sum + segment.value }
            guard segment.key >= place.segment else { return sum }
            let isFirst = segment.key == place.segment
            return sum + max(0, segment.value - (isFirst ? Int(place.offset) : 0))
        }
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
    /// - Parameters:
    ///   - folder: The inbox.
    ///   - numbers: Its segments, in ascending order.
    /// - Throws: ``InboxError``.
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
