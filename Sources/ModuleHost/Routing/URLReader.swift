/// A parser of URLs: it cuts the bytes into parts first, and decodes each part once afterwards.
///
/// Accepts any bytes: the result is a URL, or an error with its place. Nothing is allocated, unless something
/// is percent-encoded or there are more parts than ``URLSpans`` stores inline.
struct URLReader {
    /// The parts that were found.
    struct Parts: Sendable {
        var spans = URLSpans()
        var decoded: [UInt8] = []
        var schemeEnd = 0
        var pathEnd = 0
        var queryEnd = 0
        var segmentCount = 0
        var hasAuthority = false
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// The bytes from `chunkStart` on that are not plain: a bit for each of 64, the lowest for the first.
    private var stops: UInt64 = 0
    private var chunkStart = 0

    /// Parses a URL.
    ///
    /// - Returns: The first error, or nil.
    static func read(_ text: String, into parts: inout Parts) -> RouteURLError? {
        text.withUTF8Bytes { bytes in
            if bytes.count > RouteURL.Limits.bytes {
                return RouteURLError(.tooLong(bytes: bytes.count), at: RouteURL.Limits.bytes)
            }
            var reader = URLReader(bytes)
            do throws(RouteURLError) {
                try reader.read(&parts)
                return nil
            } catch {
                return error
            }
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        readChunk(at: 0)
    }

    @inline(__always)
    private mutating func read(_ parts: inout Parts) throws(RouteURLError) {
        parts.schemeEnd = try readScheme()
        if next(is: "/"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "/") {
            position += 2
            parts.hasAuthority = try readAuthority(&parts)
        }
        try readPath(&parts)
        parts.segmentCount = parts.spans.count
        parts.pathEnd = position
        if next(is: "?") {
            position += 1
            try readQuery(&parts)
        }
        parts.queryEnd = position
        if next(is: "#") { try readFragment(&parts) }
    }

    @inline(__always)
    private func next(is character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    /// Reads the scheme; the position is then behind its colon.
    @inline(__always)
    private mutating func readScheme() throws(RouteURLError) -> Int {
        guard let first = bytes.first else { throw RouteURLError(.empty, at: 0) }
        guard 0x61...0x7A ~= first | 0x20 else { throw RouteURLError(.noScheme, at: 0) }
        repeat { position = stop(from: position + 1) } while next(is: "+")
        guard next(is: ":") else { throw RouteURLError(.noScheme, at: position) }
        position += 1
        return position - 1
    }

    @inline(__always)
    private mutating func readAuthority(
        _ parts: inout Parts
    ) throws(RouteURLError) -> Bool {
        let start = position
        let isEncoded = try skip(URLCharacters.authority)
        if position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break
            case UInt8(ascii: "@"): throw RouteURLError(.userInfo, at: position)
            default: throw unexpected()
            }
        }
        guard position > start else { return false }
        try appendSegment(start, isEncoded, to: &parts)
        return true
    }

    @inline(__always)
    private mutating func readPath(
        _ parts: inout Parts
    ) throws(RouteURLError) {
        while true {
            let start = position
            let isEncoded = try skip(URLCharacters.segment)
            if position > start { try appendSegment(start, isEncoded, to: &parts) }
            guard position < bytes.count else { return }
            switch bytes[position] {
            case UInt8(ascii: "/"): position += 1
            case UInt8(ascii: "?"), UInt8(ascii: "#"): return
            default: throw unexpected()
            }
        }
    }

    @inline(__always)
    private mutating func readQuery(
        _ parts: inout Parts
    ) throws(RouteURLError) {
        while true {
            let start = position
            let isNameEncoded = try skip(URLCharacters.itemName)
            let end = position
            if next(is: "=") {
                position += 1
                let isValueEncoded = try skip(URLCharacters.itemValue)
                try appendItem(
                    name: part(start, end, isNameEncoded, &parts),
                    value: part(end + 1, position, isValueEncoded, &parts), at: start, to: &parts)
            } else if end > start {
                try appendItem(
                    name: part(start, end, isNameEncoded, &parts), value: URLSpan(end, end),
                    at: start, to: &parts)
            }
            guard position < bytes.count else { return }
            switch bytes[position] {
            case UInt8(ascii: "&"): position += 1
            case UInt8(ascii: "#"): return
            default: throw unexpected()
            }
        }
    }

    /// Reads the fragment, which is kept unchanged but is checked, too.
    private mutating func readFragment(
        _ parts: inout Parts
    ) throws(RouteURLError) {
        position += 1
        let start = position
        let isEncoded = try skip(URLCharacters.fragment)
        guard position == bytes.count else { throw unexpected() }
        let kept = parts.decoded.count
        _ = try part(start, position, isEncoded, &parts)
        parts.decoded.removeLast(parts.decoded.count - kept)
    }

    // MARK: Parts

    /// Advances to the first byte that is neither allowed, nor part of an escape, nor beyond ASCII.
    ///
    /// - Returns: Whether there was an escape on the way.
    @inline(__always)
    private mutating func skip(_ allowed: URLCharacters) throws(RouteURLError) -> Bool {
        position = stop(from: position)
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        let isEnd = !allowed.contains(byte) && byte < 0x80 && byte != UInt8(ascii: "%")
        return isEnd ? false : try skipRest(allowed)
    }

    /// Advances as ``skip(_:)`` from a byte that is not plain.
    @inline(never)
    private mutating func skipRest(_ allowed: URLCharacters) throws(RouteURLError) -> Bool {
        var isEncoded = false
        while position < bytes.count {
            let byte = bytes[position]
            if allowed.contains(byte) || byte >= 0x80 {
                position += 1
            } else if byte == UInt8(ascii: "%") {
                guard position + 2 < bytes.count, hexadecimalValue(bytes[position + 1]) != nil,
                    hexadecimalValue(bytes[position + 2]) != nil
                else { throw RouteURLError(.escape, at: position) }
                isEncoded = true
                position += 3
            } else {
                return isEncoded
            }
            position = stop(from: position)
        }
        return isEncoded
    }

    // MARK: Plain bytes

    /// Returns the next byte from a position on that is not plain, or the end.
    ///
    /// Most bytes are plain. They are classified eight at a time and 64 in advance, so that a part takes the
    /// same few steps whatever its length, which a processor could not predict.
    @inline(__always)
    private mutating func stop(from position: Int) -> Int {
        let offset = position &- chunkStart
        let ahead = offset < 64 ? stops &>> offset : 0
        return ahead != 0 ? position &+ ahead.trailingZeroBitCount : stopBehindChunk(position)
    }

    /// Returns the next byte that is not plain, where it is not in the chunk, or the end.
    @inline(never)
    private mutating func stopBehindChunk(_ position: Int) -> Int {
        var start = max(position, chunkStart + 64)
        while start < bytes.count {
            readChunk(at: start)
            if stops != 0 { return start + stops.trailingZeroBitCount }
            start += 64
        }
        return bytes.count
    }

    /// Classifies the bytes from a position on; those behind the end are not plain.
    private mutating func readChunk(at start: Int) {
        chunkStart = start
        let raw = UnsafeRawBufferPointer(bytes)
        let count = min(64, bytes.count &- start)
        var found: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= count {
            let word = raw.loadUnaligned(fromByteOffset: start &+ offset, as: UInt64.self)
            found |= (0xFF ^ URLCharacters.plainBits(UInt64(littleEndian: word))) &<< offset
            offset &+= 8
        }
        if offset < count {
            found |= (0xFF ^ URLCharacters.plainBits(lastWord(at: start &+ offset))) &<< offset
        }
        stops = count < 64 ? found | ~0 &<< count : found
    }

    /// Returns the last bytes, fewer than eight, the first the lowest; zero for those behind the end.
    private func lastWord(at position: Int) -> UInt64 {
        if bytes.count >= 8 {
            let last = UnsafeRawBufferPointer(bytes)
                .loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self)
            return UInt64(littleEndian: last) &>> (8 &* (position &+ 8 &- bytes.count))
        }
        return bytes[position...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Segments and items

    @inline(__always)
    private func appendSegment(
        _ start: Int, _ isEncoded: Bool, to parts: inout Parts
    ) throws(RouteURLError) {
        if parts.spans.count == RouteURL.Limits.segments {
            throw RouteURLError(.tooManySegments, at: start)
        }
        let span = try part(start, position, isEncoded, &parts)
        if span.end - span.start <= 2 { try refuseDots(span, at: start, parts) }
        parts.spans.append(span)
    }

    private func refuseDots(
        _ span: URLSpan, at start: Int, _ parts: borrowing Parts
    ) throws(RouteURLError) {
        for index in span.start..<span.end {
            let byte = span.isDecoded ? parts.decoded[index] : bytes[index]
            if byte != UInt8(ascii: ".") { return }
        }
        let dots = span.end - span.start == 1 ? "." : ".."
        throw RouteURLError(.dotSegment(dots), at: start)
    }

    @inline(__always)
    private func appendItem(
        name: URLSpan, value: URLSpan, at start: Int, to parts: inout Parts
    ) throws(RouteURLError) {
        if parts.spans.count == parts.segmentCount + 2 * RouteURL.Limits.items {
            throw RouteURLError(.tooManyItems, at: start)
        }
        parts.spans.append(name)
        parts.spans.append(value)
    }

    /// Returns the part between two offsets, decoded if it has an escape.
    ///
    /// The text is UTF-8 and cut at ASCII characters: only the decoded bytes can be anything else.
    @inline(__always)
    private func part(
        _ start: Int, _ end: Int, _ isEncoded: Bool, _ parts: inout Parts
    ) throws(RouteURLError) -> URLSpan {
        isEncoded ? try decode(start, end, &parts.decoded) : URLSpan(start, end)
    }

    private func decode(
        _ start: Int, _ end: Int, _ decoded: inout [UInt8]
    ) throws(RouteURLError) -> URLSpan {
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
            throw RouteURLError(.invalidUTF8, at: source(ofDecoded: offset, from: start))
        }
        return URLSpan(first, decoded.count, isDecoded: true)
    }

    /// Returns the offset of the byte that is decoded to the one at `offset`.
    private func source(ofDecoded offset: Int, from start: Int) -> Int {
        var position = start
        for _ in 0..<offset { position += bytes[position] == UInt8(ascii: "%") ? 3 : 1 }
        return position
    }

    /// Returns the error for the character at the position, for any character.
    private func unexpected() -> RouteURLError {
        // Bytes beyond ASCII are accepted, so this is one byte.
        RouteURLError(.character(Unicode.Scalar(bytes[position])), at: position)
    }
}
