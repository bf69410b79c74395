extension InboxFolder {
    /// Returns the time of the first event at or behind a position, as its sender gave it; nil if that is not known.
    ///
    /// Takes no lock: a program that has it for long must not hold up a monitor. Reads one line, and a second time
    /// if that is a long one.
    func time(ofEventAt position: EventPosition) -> WallTime? {
        let next = EventPosition(segment: position.segment &+ 1, offset: 0)
        for place in [position, next] {
            guard let file = try? segment(place.segment) else { return nil }
            for count in [16 << 10, limits.line + 1] {
                guard let bytes = try? file.read(at: Int(place.offset), upTo: count) else {
                    return nil
                }
                let newline = UInt8(ascii: "\n")
                let rest = bytes[...].drop { $0 == newline }
                // The end of the segment.
                if rest.isEmpty { break }
                guard let end = rest.firstIndex(of: newline) else { continue }
                return (try? InboxRecord(parsing: rest[..<end]))?.time.flatMap { WallTime($0) }
            }
        }
        return nil
    }
}
