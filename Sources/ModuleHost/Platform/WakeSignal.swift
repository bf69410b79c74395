import Glibc

/// Wakes a thread that waits for descriptors; stays given until it is taken.
final class WakeSignal: Sendable {
    private let receiver: Descriptor
    private let sender: Descriptor

    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init() throws(SystemError) {
        // Sockets and not a pipe: these are closed on `exec` from the beginning.
        var ends: (Int32, Int32) = (-1, -1)
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let result = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) {
                socketpair(AF_UNIX, Int32(kind), 0, $0)
            }
        }
        guard result == 0 else { throw .last }
        receiver = Descriptor(owning: ends.0)
        sender = Descriptor(owning: ends.1)
    }

    /// The descriptor that can be read from while the signal is given.
    var descriptor: Int32 { receiver.number }

    /// Gives the signal.
    ///
    /// Never waits.
    func give() {
        // Where there is no room for another byte the signal is given already.
        _ = try? sender.send([1])
    }

    /// Takes the signal back, however often it was given.
    func take() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while case .bytes = receiver.receive(into: &bytes) {}
    }

    /// Waits until the signal is given, and leaves it so.
    ///
    /// - Returns: False where time was up.
    func wait(within time: Duration) -> Bool {
        let (seconds, attoseconds) = time.components
        // Less than nothing would be for ever.
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return RawOutput.wait(
            until: POLLIN, on: descriptor, milliseconds: Int32(clamping: milliseconds))
    }
}
