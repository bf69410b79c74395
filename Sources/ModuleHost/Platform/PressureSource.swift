import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A source of memory pressure events: a file of the kernel (PSI), or a file that a service manager puts in
/// its place.
struct PressureSource: ~Copyable, Sendable {
    private let file: Descriptor
    /// The event to wait for: the kernel's files report pressure as urgent data, others by bytes.
    private let interest: PollSet.Interest

    /// Opens the source, and sets the trigger.
    ///
    /// - Parameter trigger: The bytes to write to it: the level from which to notify.
    /// - Throws: ``SystemError``, also where this kernel or its owner does not allow it.
    init(at path: String, trigger: [UInt8]) throws(SystemError) {
        let file = try Self.open(path)
        let isFile = try file.status().st_mode & S_IFMT == S_IFREG
        // In one write: the kernel takes a write for a complete trigger.
        if !trigger.isEmpty { try file.writeAll(trigger) }
        interest = isFile ? .urgent : .reading
        self.file = file
    }

    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        if let socket = try? LocalSocket.connect(to: path, within: .seconds(1)) { return socket }
        // A pipe that is also open for writing never reports an end, which would have to be skipped.
        return try Descriptor(opening: path, O_RDWR | O_NONBLOCK)
    }

    /// Waits until there is pressure.
    ///
    /// - Parameter end: The signal that ends the wait, too.
    /// - Returns: False where `end` was given, or the source has ended.
    borrowing func wait(until end: WakeSignal) -> Bool {
        var poll = PollSet()
        let source = poll.insert(file.number, interest)
        let ending = poll.insert(end.descriptor, .reading)
        poll.wait()
        if poll.canRead(ending) || poll.isHungUp(source) { return false }
        guard interest == .reading else { return true }
        // The content of the bytes has no meaning.
        return (try? file.read(upTo: 4096))?.isEmpty == false
    }
}
