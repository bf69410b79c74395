/// The type that a placeholder of a pattern requires of its segment, such as that of `:id<int>`.
///
/// Part of the pattern, and not of the request: a segment that does not read as the type does not match, and
/// the search continues with the next candidate.
enum SegmentType: UInt8, CaseIterable, Sendable {
    case int = 1
    case uuid
    case date

    /// The word in a pattern.
    var name: String {
        switch self {
        case .int: "int"
        case .uuid: "uuid"
        case .date: "date"
        }
    }

    /// The texts that it takes, for messages.
    var expectation: String {
        switch self {
        case .int: "a whole number of 64 bits"
        case .uuid: "a UUID such as 0F8FAD5B-D9CB-469F-A165-70867728950E"
        case .date: "a day such as 2026-03-01, or a time such as 2026-03-01T09:41:00Z"
        }
    }

    /// Returns whether a segment reads as the type.
    func reads(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .int: Self.isInt(bytes)
        case .uuid: Self.isUUID(bytes)
        case .date: Self.isDate(bytes)
        }
    }

    func reads(_ bytes: some Collection<UInt8>) -> Bool {
        Array(bytes).withUnsafeBufferPointer { reads($0) }
    }

    /// Whole numbers in decimal; the only sign is a minus.
    private static func isInt(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = bytes[(isNegative ? 1 : 0)...]
        guard !digits.isEmpty else { return false }
        var value: Int64 = 0
        for byte in digits {
            guard 0x30...0x39 ~= byte else { return false }
            let digit = Int64(byte - 0x30)
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (next, isFull) = tens.addingReportingOverflow(isNegative ? -digit : digit)
            if isTooLarge || isFull { return false }
            value = next
        }
        return true
    }

    private static func isUUID(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
            if isHyphen ? byte != UInt8(ascii: "-") : hexadecimalValue(byte) == nil { return false }
        }
        return true
    }

    /// A day, or an instant as ``DateTime`` reads it.
    private static func isDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // The longest has nine digits of a second and an offset.
        guard 10...35 ~= bytes.count else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        return DateTime(bytes.count == 10 ? text + "T00:00:00Z" : text) != nil
    }
}
