/// The members of a JSON object, as text.
///
/// It takes JSON for granted, and names without escapes, which the host's are; values may be anything.
struct JSONObject {
    private var members: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

    init(_ text: ArraySlice<UInt8>) {
        var scanner = Scanner(rest: text)
        scanner.skip("{")
        while let name = scanner.value(), scanner.skip(":"), let value = scanner.value() {
            members.append((name.dropFirst().dropLast(), value))
            scanner.skip(",")
        }
    }

    /// The text of a value; a string has its quotes.
    subscript(name: String) -> String? {
        members.first { $0.name.elementsEqual(name.utf8) }
            .map { String(decoding: $0.value, as: UTF8.self) }
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        /// Takes a character and the white space before it.
        @discardableResult
        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            skipSpace()
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        /// Takes a value; nil where none begins.
        mutating func value() -> ArraySlice<UInt8>? {
            skipSpace()
            let text = rest
            var depth = 0
            scan: while let byte = rest.first {
                switch byte {
                case UInt8(ascii: "\""):
                    skipString()
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    rest.removeFirst()
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { break scan }
                    depth -= 1
                    rest.removeFirst()
                case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09...0x0D:
                    if depth == 0 { break scan }
                    rest.removeFirst()
                default:
                    rest.removeFirst()
                }
            }
            return rest.startIndex > text.startIndex ? text[..<rest.startIndex] : nil
        }

        private mutating func skipString() {
            rest.removeFirst()
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                if byte == UInt8(ascii: "\\") { rest = rest.dropFirst() }
            }
        }

        private mutating func skipSpace() {
            rest = rest.drop { $0 == 0x20 || 0x09...0x0D ~= $0 }
        }
    }
}
