extension Inbox {
    /// Returns the time of the event at a position, as its sender gave it; nil if that is not known.
    ///
    /// Takes no lock: a program that has it for long must not hold up a monitor.
    ///
    /// - Parameter position: The position of an event that is not done.
    func time(ofEventAt position: EventPosition) -> WallTime? {
        guard let file = try? folder.segment(position.segment) else { return nil }
        let start = Int(position.offset)
        for limit in [16 << 10, folder.limits.line + 1] {
            guard let bytes = try? file.read(at: start, upTo: limit) else { return nil }
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            let record = try? InboxRecord(parsing: bytes[..<end])
            return record?.time.flatMap(DateTime.init).map {
                WallTime(seconds: $0.seconds, nanoseconds: $0.nanoseconds)
            }
        }
        return nil
    }
}
