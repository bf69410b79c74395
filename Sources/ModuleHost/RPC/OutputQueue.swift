/// Bytes that wait to be sent, in order.
struct OutputQueue {
    private var bytes: [UInt8] = []
    /// How many of `bytes` are out.
    private var sent = 0
    /// How many bytes were sent before `bytes` began.
    private var before = 0

    var isEmpty: Bool { sent == bytes.count }
    var count: Int { bytes.count - sent }
    /// What waits.
    var rest: ArraySlice<UInt8> { bytes[sent...] }

    /// How many bytes were ever sent, and how many ever queued.
    var totalSent: Int { before + sent }
    var totalQueued: Int { before + bytes.count }

    /// Adds a line, given without its newline.
    mutating func appendLine(_ line: some Collection<UInt8>) {
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Notes that the first `count` bytes of ``rest`` are out.
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
