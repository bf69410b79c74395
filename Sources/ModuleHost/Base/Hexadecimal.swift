extension UInt64 {
    /// The number as 16 hexadecimal digits, in small letters.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension UInt8 {
    /// Whether it is a hexadecimal digit, in small letters.
    var isHexadecimalDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
            || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
