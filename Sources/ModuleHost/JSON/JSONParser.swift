/// A parser that reads a JSON text (RFC 8259, strictly) into a table of nodes.
///
/// Accepts any bytes. After an error whose correction is unambiguous (a comma too many, a bad escape, a
/// comment) the parser notes it and continues, so that one run shows them all; an ambiguous one ends the
/// parsing.
struct JSONParser {
    /// A diagnostic before its place is computed.
    struct Diagnostic {
        let offset: Int
        let kind: JSONDiagnostic.Kind
    }

    let bytes: [UInt8]
    var nodes: [JSONNode] = []
    private(set) var diagnostics: [Diagnostic] = []
    /// Whether `nodes` covers the whole text, in spite of errors.
    ///
    /// If not, parts that seem to be missing may be in the text that was not read.
    private(set) var isWhole = true
    /// Whether any string has a dollar sign.
    var hasDollar = false

    /// The number of diagnostics after which the parsing ends.
    private let diagnosticLimit: Int
    /// The largest depth of nested arrays and objects.
    private let depthLimit: Int
    var at = 0
    private var depth = 0
    /// The places of the keys of the open objects, outermost first.
    var keys: [UInt32] = []
    /// Whether the last string ran to the end of its line: the comma after it is then part of the string.
    var forgivesComma = false
    var source: SourceText

    init(
        _ bytes: [UInt8], diagnosticLimit: Int, depthLimit: Int = JSONDocument.depthLimit
    ) {
        self.bytes = bytes
        self.diagnosticLimit = diagnosticLimit
        self.depthLimit = depthLimit
        source = SourceText(bytes)
    }

    /// Reads the whole text.
    mutating func parse() {
        guard bytes.count <= JSONDocument.sizeLimit else {
            return stop(.tooLarge(bytes: bytes.count), at: 0)
        }
        if let diagnostic = encodingError { return stop(diagnostic.kind, at: diagnostic.offset) }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            report(.byteOrderMark, at: 0)
            at = 3
        }
        nodes.reserveCapacity(bytes.count / 8 + 8)
        keys.reserveCapacity(16)
        skipSpace()
        guard at < bytes.count else { return stop(.empty, at: 0) }
        value()
        skipSpace()
        if at < bytes.count, isWhole, nodes[0].kind != .invalid { report(.trailingText, at: at) }
    }

    /// The diagnostic for a text whose first bytes show that it is not UTF-8.
    private var encodingError: Diagnostic? {
        let start = bytes.prefix(1024)
        let firstNUL = bytes.firstIndex(of: 0, from: 0, before: start.endIndex)
        guard firstNUL != nil || start.starts(with: [0xFE]) || start.starts(with: [0xFF]) else {
            return nil
        }
        // JSON begins with ASCII: a NUL among the first two bytes is half of a wider character.
        let isWide = start.prefix(2).contains(0) != start.prefix(2).allSatisfy { $0 == 0 }
        let isMarked = start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
        return isMarked || (isWide && start.count > 1)
            ? Diagnostic(offset: 0, kind: .notUTF8)
            : Diagnostic(offset: firstNUL ?? 0, kind: .binary)
    }

    // MARK: Diagnostics

    mutating func report(_ kind: JSONDiagnostic.Kind, at offset: Int) {
        guard isWhole else { return }
        diagnostics.append(Diagnostic(offset: offset, kind: kind))
        if diagnostics.count >= diagnosticLimit { giveUp() }
    }

    mutating func stop(_ kind: JSONDiagnostic.Kind, at offset: Int) {
        report(kind, at: offset)
        giveUp()
    }

    /// Skips the rest of the text: every open value then ends with the text.
    mutating func giveUp() {
        isWhole = false
        at = bytes.count
    }

    // MARK: Values

    /// The current byte; at the end 0, which has no meaning in JSON.
    var byte: UInt8 {
        @inline(__always) get { at < bytes.count ? bytes[at] : 0 }
    }

    @inline(__always)
    mutating func append(
        _ kind: JSONNode.Kind, from start: Int, flags: JSONNode.Flags = []
    ) {
        nodes.append(
            JSONNode(
                start: UInt32(truncatingIfNeeded: start),
                length: UInt32(truncatingIfNeeded: max(0, at - start)),
                next: UInt32(truncatingIfNeeded: nodes.count + 1), kind: kind, flags: flags))
    }

    /// Reads the current value, and adds exactly one node with its subtree.
    mutating func value() {
        switch byte {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "{"): object()
        case UInt8(ascii: "["): array()
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): number()
        default: word()
        }
    }

    /// Opens an array or object; nil where it would be too deep.
    private mutating func open(_ kind: JSONNode.Kind) -> Int? {
        let node = nodes.count
        append(kind, from: at)
        guard depth < depthLimit else {
            stop(.tooDeep(limit: depthLimit), at: at)
            return nil
        }
        depth += 1
        at += 1
        return node
    }

    private mutating func close(_ node: Int) {
        depth -= 1
        nodes[node].length = UInt32(truncatingIfNeeded: at) - nodes[node].start
        nodes[node].next = UInt32(truncatingIfNeeded: nodes.count)
    }

    private mutating func array() {
        guard let node = open(.array) else { return }
        defer { close(node) }
        var comma: Int?
        while true {
            skipSpace()
            switch byte {
            case UInt8(ascii: "]"):
                if let comma { report(.trailingComma, at: comma) }
                if isWhole { at += 1 }
                return
            case UInt8(ascii: ","):
                report(.strayComma, at: at)
                if isWhole { at += 1 }
                continue
            case UInt8(ascii: "}"):
                return mismatch(node)
            default:
                guard at < bytes.count else { return end(inside: node) }
            }
            value()
            comma = commaAfterValue(closing: UInt8(ascii: "]"))
        }
    }

    private mutating func object() {
        guard let node = open(.object) else { return }
        let firstKey = keys.count
        // One bit for each hash of the keys seen: as long as the bit is new, no other key can be the same.
        var seen: UInt64 = 0
        var mayRepeat = false
        defer {
            if mayRepeat { findDuplicates(among: firstKey) }
            keys.removeLast(keys.count - firstKey)
            close(node)
        }
        var comma: Int?
        while true {
            skipSpace()
            switch byte {
            case UInt8(ascii: "\""):
                break
            case UInt8(ascii: "}"):
                if let comma { report(.trailingComma, at: comma) }
                if isWhole { at += 1 }
                return
            case UInt8(ascii: ","):
                report(.strayComma, at: at)
                if isWhole { at += 1 }
                continue
            case UInt8(ascii: "]"):
                return mismatch(node)
            default:
                guard at < bytes.count else { return end(inside: node) }
            }
            let key = nodes.count
            if byte == UInt8(ascii: "\"") { string() } else { oddKey() }
            keys.append(UInt32(truncatingIfNeeded: key))
            let bit = keyBit(key)
            mayRepeat = mayRepeat || seen & bit != 0
            seen |= bit
            colonAndValue()
            comma = commaAfterValue(closing: UInt8(ascii: "}"))
        }
    }

    private mutating func colonAndValue() {
        skipSpace()
        if byte == UInt8(ascii: ":") {
            at += 1
            skipSpace()
            return value()
        }
        guard at < bytes.count else { return append(.invalid, from: at) }
        report(.missingColon, at: at)
        if byte == UInt8(ascii: "=") {
            at += 1
            skipSpace()
        }
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): append(.invalid, from: at)
        default: value()
        }
    }

    /// Takes the comma that must follow a value unless `closing` does, and returns its offset.
    @inline(__always)
    private mutating func commaAfterValue(closing: UInt8) -> Int? {
        if byte == UInt8(ascii: ",") {
            at += 1
            return at - 1
        }
        return lateComma(closing: closing)
    }

    private mutating func lateComma(closing: UInt8) -> Int? {
        let end = at
        skipSpace()
        let isForgiven = forgivesComma
        forgivesComma = false
        switch byte {
        case UInt8(ascii: ","):
            at += 1
            return at - 1
        case closing:
            return nil
        default:
            // A wrong closing bracket and the end of the text have diagnostics of their own.
            let isOther = byte != UInt8(ascii: "]") && byte != UInt8(ascii: "}")
            if at < bytes.count, isOther, !isForgiven { report(.missingComma, at: end) }
            return nil
        }
    }

    private mutating func mismatch(_ node: Int) {
        let isObject = nodes[node].kind == .object
        let opened = source.place(of: nodes[node].range.lowerBound)
        stop(
            .mismatchedBracket(
                found: isObject ? "]" : "}", open: isObject ? "{" : "[", opened: opened), at: at)
    }

    private mutating func end(inside node: Int) {
        guard isWhole else { return }
        let opened = source.place(of: nodes[node].range.lowerBound)
        stop(
            .endsInside(nodes[node].kind == .object ? "object" : "array", opened), at: bytes.count)
    }
}
