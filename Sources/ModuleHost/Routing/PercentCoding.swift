/// What stands in a URL as it is, by its place there (RFC 3986, section 3).
///
/// A set of ASCII characters in two words. What is not ASCII is no member.
struct URLCharacters {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    private init(_ characters: String) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : byte < 128 ? high : 0
        return (word >> UInt64(byte & 63)) & 1 == 1
    }

    private static let unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

    /// What stands in a scheme after its first letter.
    static let scheme = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.")
    /// What stands in a segment of the path.
    static let segment = URLCharacters(unreserved + "!$&'()*+,;=:@")
    /// What stands in the authority: brackets are those of an IPv6 address.
    static let authority = URLCharacters(unreserved + "!$&'()*+,;=:[]")
    /// What stands in the name of a query item.
    ///
    /// Brackets too, unlike in RFC 3986: a nested URL needs no encoding, and it may have an IPv6
    /// address.
    static let itemName = URLCharacters(unreserved + "!$'()*+,;:@/?[]")
    /// What stands in the value of a query item.
    static let itemValue = URLCharacters(unreserved + "!$'()*+,;:@/?[]=")
    /// What stands in the fragment.
    static let fragment = URLCharacters(unreserved + "!$&'()*+,;=:@/?[]")
    /// What is written as it is when a URL is built: what no place gives a meaning to.
    static let plain = URLCharacters(unreserved)
}

/// A character as it is written in a URL, such as `%20`.
func percentEncoded(_ scalar: Unicode.Scalar) -> String {
    var bytes: [UInt8] = []
    bytes.append(percentEncoding: String(scalar).utf8)
    return String(decoding: bytes, as: UTF8.self)
}

private func hexadecimal(_ byte: UInt8) -> [UInt8] {
    let digits = StaticString("0123456789ABCDEF")
    return [digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 15)]]
}

extension [UInt8] {
    /// Appends text with everything escaped that is not a letter, a digit or one of `-._~`.
    mutating func append(percentEncoding text: some Sequence<UInt8>) {
        for byte in text {
            if URLCharacters.plain.contains(byte) {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(contentsOf: hexadecimal(byte))
            }
        }
    }
}

/// The value of a hexadecimal digit.
@inline(__always)
func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// Where the first bytes stand that are no UTF-8, or nil.
func invalidUTF8Offset(in bytes: some Collection<UInt8>) -> Int? {
    var decoder = UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
        switch decoder.parseScalar(from: &iterator) {
        case .valid(let scalar): offset += scalar.count
        case .error: return offset
        case .emptyInput: return nil
        }
    }
}
