/// Reads URLs, byte by byte: cuts first, decodes each part once afterwards.
///
/// Total: whatever the bytes, there is a URL or a fault with its place. Nothing is allocated but
/// the list of parts, unless something is percent-encoded.
struct URLReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var spans: [URLSpan] = []
    private var decoded: [UInt8] = []
    private var segmentCount = 0

    static func read(_ text: String) throws(URLFault) -> RouteURL {
        var text = text
        if text.utf8.count > RouteURL.Limits.bytes {
            throw URLFault(.tooLong(bytes: text.utf8.count), at: RouteURL.Limits.bytes)
        }
        let ends = text.withUTF8 { bytes in
            Result { () throws(URLFault) in
                var reader = URLReader(bytes)
                let ends = try reader.read()
                return (reader.spans, reader.decoded, reader.segmentCount, ends)
            }
        }
        let (spans, decoded, segmentCount, parts) = try ends.get()
        return RouteURL(
            text: text, decoded: decoded, spans: spans, schemeEnd: parts.scheme,
            pathEnd: parts.path, queryEnd: parts.query, segmentCount: segmentCount,
            hasAuthority: parts.hasAuthority)
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private struct Parts {
        var scheme = 0
        var path = 0
        var query = 0
        var hasAuthority = false
    }

    private mutating func read() throws(URLFault) -> Parts {
        var parts = Parts()
        parts.scheme = try readScheme()
        spans.reserveCapacity(12)
        if next(is: "/"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "/") {
            position += 2
            parts.hasAuthority = try readAuthority()
        }
        try readPath()
        segmentCount = spans.count
        parts.path = position
        if next(is: "?") {
            position += 1
            try readQuery()
        }
        parts.query = position
        if next(is: "#") { try readFragment() }
        return parts
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
        let kept = decoded.count
        _ = try part(start, position, isEncoded)
        decoded.removeLast(decoded.count - kept)
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
        if spans.count == RouteURL.Limits.segments {
            throw URLFault(.tooManySegments, at: start)
        }
        let span = try part(start, position, isEncoded)
        if span.end - span.start <= 2 { try refuseDots(span, at: start) }
        spans.append(span)
    }

    private func refuseDots(_ span: URLSpan, at start: Int) throws(URLFault) {
        for index in span.start..<span.end {
            let byte = span.isDecoded ? decoded[index] : bytes[index]
            if byte != UInt8(ascii: ".") { return }
        }
        let dots = span.end - span.start == 1 ? "." : ".."
        throw URLFault(.dotSegment(dots), at: start)
    }

    private mutating func appendItem(
        name: URLSpan, value: URLSpan, at start: Int
    ) throws(URLFault) {
        if spans.count == segmentCount + 2 * RouteURL.Limits.items {
            throw URLFault(.tooManyItems, at: start)
        }
        spans.append(name)
        spans.append(value)
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
        let first = decoded.count
        var position = start
        while position < end {
            if bytes[position] == UInt8(ascii: "%"),
                let high = hexadecimalValue(bytes[position + 1]),
                let low = hexadecimalValue(bytes[position + 2])
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(bytes[position])
                position += 1
            }
        }
        if let offset = invalidUTF8Offset(in: decoded[first...]) {
            throw URLFault(.invalidUTF8, at: source(ofDecoded: offset, from: start))
        }
        return URLSpan(first, decoded.count, isDecoded: true)
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
