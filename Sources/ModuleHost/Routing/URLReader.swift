/// Reads URLs, byte by byte: cuts first, decodes each part once afterwards.
///
/// Total: whatever the bytes, there is a URL or a fault with its place. Nothing is allocated but
/// the list of parts, unless something is percent-encoded.
struct URLReader {
    /// What was found.
    struct Parts {
        var spans: [URLSpan] = []
        var decoded: [UInt8] = []
        var schemeEnd = 0
        var pathEnd = 0
        var queryEnd = 0
        var segmentCount = 0
        var hasAuthority = false
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var parts = Parts()

    /// Reads the URL, and makes its text contiguous where it is not.
    static func read(_ text: inout String) throws(URLFault) -> Parts {
        if text.utf8.count > RouteURL.Limits.bytes {
            throw URLFault(.tooLong(bytes: text.utf8.count), at: RouteURL.Limits.bytes)
        }
        var parts = Parts()
        var fault: URLFault?
        text.withUTF8 { bytes in
            var reader = URLReader(bytes)
            do throws(URLFault) {
                try reader.read()
            } catch {
                fault = error
            }
            swap(&parts, &reader.parts)
        }
        if let fault { throw fault }
        return parts
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func read() throws(URLFault) {
        parts.schemeEnd = try readScheme()
        parts.spans.reserveCapacity(12)
        if next(is: "/"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "/") {
            position += 2
            parts.hasAuthority = try readAuthority()
        }
        try readPath()
        parts.segmentCount = parts.spans.count
        parts.pathEnd = position
        if next(is: "?") {
            position += 1
            try readQuery()
        }
        parts.queryEnd = position
        if next(is: "#") { try readFragment() }
    }

    @inline(__always)
    private func next(is character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    /// The scheme; the position is then behind its colon.
    private mutating func readScheme() throws(URLFault) -> Int {
        guard let first = bytes.first else { throw URLFault(.empty, at: 0) }
        guard 0x61...0x7A ~= first | 0x20 else { throw URLFault(.noScheme, at: 0) }
        position = 1
        while position < bytes.count, URLCharacters.scheme.contains(bytes[position]) {
            position += 1
        }
        guard next(is: ":") else { throw URLFault(.noScheme, at: position) }
        position += 1
        return position - 1
    }

    private mutating func readAuthority() throws(URLFault) -> Bool {
        let start = position
        let isEncoded = try skip(URLCharacters.authority)
        if position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break
            case UInt8(ascii: "@"): throw URLFault(.userInfo, at: position)
            default: throw unexpected()
            }
        }
        guard position > start else { return false }
        try appendSegment(start, isEncoded)
        return true
    }

    private mutating func readPath() throws(URLFault) {
        while true {
            let start = position
            let isEncoded = try skip(URLCharacters.segment)
            if position > start { try appendSegment(start, isEncoded) }
            guard position < bytes.count else { return }
            switch bytes[position] {
            case UInt8(ascii: "/"): position += 1
            case UInt8(ascii: "?"), UInt8(ascii: "#"): return
            default: throw unexpected()
            }
        }
    }

    private mutating func readQuery() throws(URLFault) {
        while true {
            let start = position
            let isNameEncoded = try skip(URLCharacters.itemName)
            let end = position
            if next(is: "=") {
                position += 1
                let isValueEncoded = try skip(URLCharacters.itemValue)
                try appendItem(
                    name: part(start, end, isNameEncoded),
                    value: part(end + 1, position, isValueEncoded), at: start)
            } else if end > start {
                try appendItem(
                    name: part(start, end, isNameEncoded), value: URLSpan(end, end), at: start)
            }
            guard position < bytes.count else { return }
            switch bytes[position] {
            case UInt8(ascii: "&"): position += 1
            case UInt8(ascii: "#"): return
            default: throw unexpected()
            }
        }
    }

    /// The fragment is kept as it is, but it is not let through unread.
    private mutating func readFragment() throws(URLFault) {
        position += 1
        let start = position
        let isEncoded = try skip(URLCharacters.fragment)
        guard position == bytes.count else { throw unexpected() }
        let kept = parts.decoded.count
        _ = try part(start, position, isEncoded)
        parts.decoded.removeLast(parts.decoded.count - kept)
    }

    // MARK: Parts

    /// Goes on to the first byte that is neither allowed, nor of an escape, nor beyond ASCII.
    ///
    /// - Returns: Whether there was an escape on the way.
    @inline(__always)
    private mutating func skip(_ allowed: URLCharacters) throws(URLFault) -> Bool {
        var isEncoded = false
        var position = position
        defer { self.position = position }
        while position < bytes.count {
            let byte = bytes[position]
            if allowed.contains(byte) || byte >= 0x80 {
                position += 1
            } else if byte == UInt8(ascii: "%") {
                guard position + 2 < bytes.count, hexadecimalValue(bytes[position + 1]) != nil,
                    hexadecimalValue(bytes[position + 2]) != nil
                else { throw URLFault(.escape, at: position) }
                isEncoded = true
                position += 3
            } else {
                break
            }
        }
        return isEncoded
    }

    private mutating func appendSegment(_ start: Int, _ isEncoded: Bool) throws(URLFault) {
        if parts.spans.count == RouteURL.Limits.segments {
            throw URLFault(.tooManySegments, at: start)
        }
        let span = try part(start, position, isEncoded)
        if span.end - span.start <= 2 { try refuseDots(span, at: start) }
        parts.spans.append(span)
    }

    private func refuseDots(_ span: URLSpan, at start: Int) throws(URLFault) {
        for index in span.start..<span.end {
            let byte = span.isDecoded ? parts.decoded[index] : bytes[index]
            if byte != UInt8(ascii: ".") { return }
        }
        let dots = span.end - span.start == 1 ? "." : ".."
        throw URLFault(.dotSegment(dots), at: start)
    }

    private mutating func appendItem(
        name: URLSpan, value: URLSpan, at start: Int
    ) throws(URLFault) {
        if parts.spans.count == parts.segmentCount + 2 * RouteURL.Limits.items {
            throw URLFault(.tooManyItems, at: start)
        }
        parts.spans.append(name)
        parts.spans.append(value)
    }

    /// The part between two offsets, decoded if there is something to decode.
    ///
    /// The text is UTF-8 and cut at ASCII characters: only what is decoded can be anything else.
    @inline(__always)
    private mutating func part(
        _ start: Int, _ end: Int, _ isEncoded: Bool
    ) throws(URLFault) -> URLSpan {
        isEncoded ? try decode(start, end) : URLSpan(start, end)
    }

    private mutating func decode(_ start: Int, _ end: Int) throws(URLFault) -> URLSpan {
        let first = parts.decoded.count
        var position = start
        while position < end {
            if bytes[position] == UInt8(ascii: "%"),
                let high = hexadecimalValue(bytes[position + 1]),
                let low = hexadecimalValue(bytes[position + 2])
            {
                parts.decoded.append(high << 4 | low)
                position += 3
            } else {
                parts.decoded.append(bytes[position])
                position += 1
            }
        }
        if let offset = invalidUTF8Offset(in: parts.decoded[first...]) {
            throw URLFault(.invalidUTF8, at: source(ofDecoded: offset, from: start))
        }
        return URLSpan(first, parts.decoded.count, isDecoded: true)
    }

    /// Where the byte stands that is decoded to the one at `offset`.
    private func source(ofDecoded offset: Int, from start: Int) -> Int {
        var position = start
        for _ in 0..<offset { position += bytes[position] == UInt8(ascii: "%") ? 3 : 1 }
        return position
    }

    /// The fault of the character at the position, whatever it is.
    private func unexpected() -> URLFault {
        // Beyond ASCII everything is let through, so it is one byte.
        URLFault(.character(Unicode.Scalar(bytes[position])), at: position)
    }
}
