/// The characters that are not encoded at a place in a URL (RFC 3986, section 3).
///
/// A set of ASCII characters in two words. A character that is not ASCII is not a member.
struct URLCharacters {
    private let low: UInt64
    private let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : byte < 128 ? high : 0
        return (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// Finds out which of eight bytes are letters, digits, `-` or `.`, which are never encoded: one bit for
    /// each byte, the lowest bit for the lowest byte.
    @inline(__always)
    static func plainBits(_ word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x80 &* each
        // Seven bits, and an eighth for the result: no sum reaches into the next byte.
        let low = word & ~high
        let folded = low | 0x20 &* each
        let letters = (folded &+ (0x80 - 0x61) &* each) & ~(folded &+ (0x80 - 0x7B) &* each)
        let fromHyphenToNine = (low &+ (0x80 - 0x2D) &* each) & ~(low &+ (0x80 - 0x3A) &* each)
        let otherThanSlash = (low ^ 0x2F &* each) &+ 0x7F &* each
        let plain = (letters | fromHyphenToNine & otherThanSlash) & ~word & high
        // Collects the eight results in the highest byte.
        return ((plain >> 7) &* 0x0102_0408_1020_4080) >> 56
    }

    // Numeric literals, so that they are in the code and not computed at run time; a test compares them with
    // the characters.

    /// The characters of a scheme after its first letter: letters, digits and `+-.`.
    static var scheme: URLCharacters {
        URLCharacters(low: 0x03FF_6800_0000_0000, high: 0x07FF_FFFE_07FF_FFFE)
    }
    /// The characters of a segment of the path: `plain` and `!$&'()*+,;=:@`.
    static var segment: URLCharacters {
        URLCharacters(low: 0x2FFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    }
    /// The characters of the authority: `plain` and `!$&'()*+,;=:[]`, the brackets for IPv6.
    static var authority: URLCharacters {
        URLCharacters(low: 0x2FFF_7FD2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFE)
    }
    /// The characters of the name of a query item.
    ///
    /// `plain` and `!$'()*+,;:@/?[]`.
    ///
    /// Brackets too, unlike in RFC 3986: a nested URL needs no encoding, and may have an IPv6 address.
    static var itemName: URLCharacters {
        URLCharacters(low: 0x8FFF_FF92_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF)
    }
    /// The characters of the value of a query item: those of a name, and `=`.
    static var itemValue: URLCharacters {
        URLCharacters(low: 0xAFFF_FF92_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF)
    }
    /// The characters of the fragment: those of the query, and `&`.
    static var fragment: URLCharacters {
        URLCharacters(low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF)
    }
    /// The characters that are not encoded when a URL is built: letters, digits and `-._~`, which have no
    /// special meaning anywhere in a URL.
    static var plain: URLCharacters {
        URLCharacters(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }
}

/// Returns a character in the encoded form of a URL, such as `%20`.
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
    /// Appends text with every character encoded that is not a letter, a digit or one of `-._~`.
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

/// Returns the offset of the first bytes that are not UTF-8, or nil.
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
