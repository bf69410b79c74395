import Glibc

extension UnsafeRawBufferPointer {
    /// Where a word begins.
    ///
    /// - Parameters:
    ///   - word: ASCII, not empty.
    ///   - start: Where to begin to look.
    /// - Returns: Nil where it is not there.
    package func firstIndex(of word: StaticString, from start: Int = 0) -> Int? {
        guard let base = baseAddress, word.utf8CodeUnitCount > 0 else { return nil }
        let first = Int32(word.utf8Start.pointee)
        var place = start
        while place + word.utf8CodeUnitCount <= count {
            let room = count - place - word.utf8CodeUnitCount + 1
            guard let found = memchr(base + place, first, room) else { return nil }
            place = UnsafeRawPointer(found) - base
            if memcmp(base + place, word.utf8Start, word.utf8CodeUnitCount) == 0 { return place }
            place += 1
        }
        return nil
    }
}
