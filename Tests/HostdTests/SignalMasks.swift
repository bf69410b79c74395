import Testing

/// Which signals a process blocks, ignores and catches.
struct SignalMasks {
    let blocked: Set<Int32>
    let ignored: Set<Int32>
    let caught: Set<Int32>

    /// - Parameter status: What `/proc/PID/status` says, be it all in one line.
    /// - Throws: Where a mask is missing.
    init(_ status: String) throws {
        let words = status.split(whereSeparator: \.isWhitespace)
        func mask(_ name: String) throws -> Set<Int32> {
            let index = try #require(words.firstIndex(of: "\(name):"))
            let bits = try #require(UInt64(words[index + 1], radix: 16))
            return Set((1...64).filter { bits & 1 << UInt64($0 - 1) != 0 })
        }
        blocked = try mask("SigBlk")
        ignored = try mask("SigIgn")
        caught = try mask("SigCgt")
    }
}
