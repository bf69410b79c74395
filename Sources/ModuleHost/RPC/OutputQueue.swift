/// Bytes that wait to be sent, in order.
struct OutputQueue {
    private var bytes: [UInt8] = []
    /// The number of `bytes` that were sent.
    private var sent = 0
    /// The number of bytes that were sent before `bytes` began.
    private var before = 0

    var isEmpty: Bool { sent == bytes.count }
    var count: Int { bytes.count - sent }
    /// The bytes that wait.
    var rest: ArraySlice<UInt8> { bytes[sent...] }

    /// The number of bytes that were ever sent.
    var totalSent: Int { before + sent }
    /// The number of bytes that were ever queued.
    var totalQueued: Int { before + bytes.count }

    /// Adds a line, given without its newline.
    mutating func appendLine(_ line: some Collection<UInt8>) {
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Notes that the first `count` bytes of ``rest`` were sent.
    mutating func removeFirst(_ count: Int) {
        sent += count
        if sent == bytes.count {
            before += sent
            sent = 0
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
        } else if sent > max(1 << 16, bytes.count / 2) {
            bytes.removeFirst(sent)
            before += sent
            sent = 0
        }
    }
}
