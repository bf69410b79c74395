import Glibc

/// A wake-up for a thread that waits for descriptors; stays given until it is taken.
final class WakeSignal: Sendable {
    private let receiver: Descriptor
    private let sender: Descriptor

    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init() throws(SystemError) {
        // Sockets instead of a pipe: these are closed on `exec` from the beginning.
        let ends = try LocalSocket.pair(nonblocking: true)
        receiver = Descriptor(owning: ends.0)
        sender = Descriptor(owning: ends.1)
    }

    /// The descriptor that is readable while the signal is given.
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

    /// Waits until the signal is given, and leaves it given.
    ///
    /// - Returns: False on a timeout.
    func wait(within time: Duration) -> Bool {
        let (seconds, attoseconds) = time.components
        // Less than zero would mean no limit.
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return RawOutput.wait(
            until: POLLIN, on: descriptor, milliseconds: Int32(clamping: milliseconds))
    }
}
