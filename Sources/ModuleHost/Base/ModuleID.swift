/// The name of a module: a reverse-domain name such as `com.mm.community`.
///
/// It is the host part of the module's URLs, so it has the form of a host name: at least two parts with dots
/// between them, each of ASCII letters, digits and hyphens, 63 at most; 253 in all. Two ids of one slatefile
/// differ in more than case.
public struct ModuleID: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is written.
    public let text: String

    /// The name as it is written.
    public var description: String { text }

    /// Creates an id from a valid name.
    ///
    /// - Parameter text: The name.
    /// - Throws: The reason why the name is not valid.
    public init(_ text: String) throws(ParsingError) {
        if let error = Self.error(in: text.utf8) { throw error }
        self.text = text
    }

    /// Creates an id from a name that was checked before.
    init(checked text: String) {
        self.text = text
    }

    /// The reason why a name is not a valid module id.
    public enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name is empty.
        case empty
        /// The name has more than 253 characters.
        case tooLong(Int)
        /// The name has no dot.
        case singlePart(String)
        /// A part is empty: before a dot, after it, or between two.
        case emptyPart(String)
        /// A part has more than 63 characters.
        case longPart(String)
        /// The name has a character that is not valid in a host name.
        case character(Character, in: String)
        /// A part begins or ends with a hyphen.
        case hyphen(String, in: String)
        /// The first part does not begin with a letter.
        case firstLetter(String)

        /// The error in words, with a valid example.
        public var description: String {
            switch self {
            case .empty: "a module id cannot be empty; it is a name such as \"com.mm.push\""
            case .tooLong(let count): "a module id has at most 253 characters; this has \(count)"
            case .singlePart(let id):
                "\(quoted(id)) is not a reverse-domain name; write \"com.mm.\(excerpt(id))\"?"
            case .emptyPart(let id):
                "module id \(quoted(id)) has nothing before, after or between its dots"
            case .longPart(let part):
                "\(quoted(part)) in a module id is longer than 63 characters"
            case .character(let character, let id):
                "module id \(quoted(id)) has \(name(of: character)) in it; "
                    + "letters, digits, hyphens and dots are allowed"
            case .hyphen(let part, let id):
                "\(quoted(part)) in module id \(quoted(id)) begins or ends with a hyphen"
            case .firstLetter(let id):
                "module id \(quoted(id)) must begin with a letter"
            }
        }

        private func name(of character: Character) -> String {
            character.unicodeScalars.first.map(named) ?? "'\(character)'"
        }
    }

    /// The regular expression of the JSON Schema, which leaves the lengths to this type.
    static let pattern =
        "^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$"

    /// Returns the first error in a name, or nil; accepts any bytes.
    static func error(in name: some BidirectionalCollection<UInt8>) -> ParsingError? {
        // The bytes of a string, one by one, take twice as long as those of a buffer.
        let isValid = name.withContiguousStorageIfAvailable(isWellFormed) ?? isWellFormed(name)
        return isValid ? nil : slowError(in: name)
    }

    @inline(__always)
    private static func isWellFormed(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        var length = 0
        var partLength = 0
        var parts = 1
        var last = UInt8(ascii: ".")
        for byte in name {
            switch byte | 0x20 {
            case UInt8(ascii: "a")...UInt8(ascii: "z") where byte >= 0x41:
                break
            case UInt8(ascii: "0")...UInt8(ascii: "9") where byte >= 0x30:
                if length == 0 { return false }
            case UInt8(ascii: "-") where byte == 0x2D:
                if last == UInt8(ascii: ".") { return false }
            case UInt8(ascii: ".") where byte == 0x2E:
                if partLength == 0 || last == UInt8(ascii: "-") { return false }
                parts += 1
                partLength = -1
            default:
                return false
            }
            partLength += 1
            length += 1
            if partLength > 63 { return false }
            last = byte
        }
        return parts > 1 && partLength > 0 && last != UInt8(ascii: "-") && length <= 253
    }

    private static func slowError(in name: some BidirectionalCollection<UInt8>) -> ParsingError {
        let text = String(decoding: name, as: UTF8.self)
        if text.isEmpty { return .empty }
        let odd = text.first {
            !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "."))
        }
        if let odd { return .character(odd, in: text) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 1 { return .singlePart(text) }
        if parts.contains("") { return .emptyPart(text) }
        if let part = parts.first(where: { $0.hasPrefix("-") || $0.hasSuffix("-") }) {
            return .hyphen(part, in: text)
        }
        if let part = parts.first(where: { $0.utf8.count > 63 }) { return .longPart(part) }
        if text.utf8.count > 253 { return .tooLong(text.utf8.count) }
        return .firstLetter(text)
    }
}
