/// A number of bytes in the form of the slatefile: `"512KiB"`, `"64MiB"`, `"1GiB"`.
///
/// A whole number and a unit, with nothing between them.
enum ByteSize {
    /// The regular expression of the JSON Schema, which leaves the limits to ``read(_:)``.
    static let pattern = "^0*[1-9][0-9]*(KiB|MiB|GiB)$"
    private static let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)]

    /// Reads a size.
    ///
    /// - Returns: The number of bytes; nil for a text of another form, and for one of 1 PiB or more.
    static func read(_ text: String) -> Int? {
        let digits = text.utf8.prefix { 0x30..<0x3A ~= $0 }
        let unit = String(Substring(text.utf8.dropFirst(digits.count)))
        guard let number = Int(Substring(digits)), let scale = units.first(where: { $0.0 == unit }),
            number < 1 << (50 - scale.1)
        else { return nil }
        return number << scale.1
    }

    /// Returns a size in the largest unit that gives it exactly.
    ///
    /// - Parameter space: What stands before the unit: nothing in a slatefile.
    static func text(of bytes: Int, between space: String = " ") -> String {
        for (unit, shift) in units where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(space)\(unit)"
        }
        return "\(bytes) bytes"
    }
}
