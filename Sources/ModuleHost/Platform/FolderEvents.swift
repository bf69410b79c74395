import Glibc

/// A queue of events in the folders that are watched (inotify).
///
/// Not safe to share between threads, except for its descriptor, for which any thread may wait.
struct FolderEvents: ~Copyable {
    struct Event {
        /// The watch that the event belongs to.
        let watch: Int32
        /// The kind of event, as `IN_…`.
        let mask: Int32
        /// The name in the folder that the event concerns; empty for the folder itself.
        let name: String
    }

    private let queue: Descriptor

    /// - Throws: ``SystemError``, also where the user has no queues left
    ///   (`/proc/sys/fs/inotify/max_user_instances`).
    init() throws(SystemError) {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { throw .last }
        queue = Descriptor(owning: number)
    }

    /// The descriptor that is readable when there are events; valid as long as this value lives.
    var descriptor: Int32 { queue.number }

    /// Begins to watch a folder, or changes the events that are watched for in it.
    ///
    /// - Returns: The watch: the same for the same folder.
    /// - Throws: ``SystemError``, also where the user has no watches left.
    func watch(_ folder: String, for mask: Int32) throws(SystemError) -> Int32 {
        let watch = inotify_add_watch(queue.number, folder, UInt32(mask | Int32(IN_ONLYDIR)))
        guard watch >= 0 else { throw .last }
        return watch
    }

    /// Ends a watch, which is reported with `IN_IGNORED`.
    func end(_ watch: Int32) { _ = inotify_rm_watch(queue.number, watch) }

    /// Takes the events since the last call.
    func take(_ body: (Event) -> Void) {
        // Room for many events: one has 16 bytes and a name of at most 256.
        let longest = 16 + 256
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while true {
                let count = Glibc.read(queue.number, buffer.baseAddress, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                Self.split(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
                // There was room for another one, so there is none.
                if count <= buffer.count - longest { return }
            }
        }
    }

    private static func split(_ events: UnsafeRawBufferPointer, _ body: (Event) -> Void) {
        var rest = events
        let header = MemoryLayout<inotify_event>.size
        while rest.count >= header {
            let event = rest.loadUnaligned(as: inotify_event.self)
            let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
            body(
                Event(
                    watch: event.wd, mask: Int32(truncatingIfNeeded: event.mask),
                    name: String(decoding: name, as: UTF8.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(header + Int(event.len)))
        }
    }
}
