import Glibc

extension [UInt8] {
    /// The place of the first `byte` from `start` on, found many bytes at a time.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress,
                let found = memchr(base + start, Int32(byte), buffer.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
