import Glibc

extension [UInt8] {
    /// Returns the index of the first `byte` from `start` on, and before `end` where there is one; searches many bytes
    /// at a time.
    func firstIndex(of byte: UInt8, from start: Int, before end: Int? = nil) -> Int? {
        withUnsafeBytes { buffer in
            let end = Swift.min(end ?? buffer.count, buffer.count)
            guard start < end, let base = buffer.baseAddress,
                let found = memchr(base + start, Int32(byte), end - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Returns whether `other` is among the first `count` bytes; searches many bytes at a time.
    func contains(_ other: [UInt8], inFirst count: Int) -> Bool {
        withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return other.isEmpty }
            return findBytes(base, Swift.min(count, buffer.count), other, other.count) != nil
        }
    }

    /// Returns whether the bytes from `start` on begin with `text`.
    func has(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        withUnsafeBytes { buffer in
            guard start + text.count <= buffer.count else { return false }
            guard let base = buffer.baseAddress, let other = text.baseAddress else { return true }
            return memcmp(base + start, other, text.count) == 0
        }
    }

    /// Returns the index of the first byte other than `byte` from `start` on; searches many bytes at a time.
    func firstIndex(otherThan byte: UInt8, from start: Int) -> Int? {
        withUnsafeBytes { buffer in
            let eight = UInt64(byte) * 0x0101_0101_0101_0101
            var index = start
            while index + 8 <= buffer.count,
                buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self) == eight
            { index += 8 }
            while index < buffer.count, buffer[index] == byte { index += 1 }
            return index < buffer.count ? index : nil
        }
    }
}

// The C library declares it as an extension of GNU's, which is not visible to Swift.
@_silgen_name("memmem") private func findBytes(
    _ bytes: UnsafeRawPointer, _ count: Int, _ other: UnsafeRawPointer, _ otherCount: Int
) -> UnsafeRawPointer?
