import Glibc

/// Tells when something in a folder is created, written or put in another's place (inotify).
///
/// Not safe to share between threads, but for ``descriptor``, which any may wait for.
package final class FolderWatch {
    /// What happened in the folder since it was last asked for.
    package struct Changes: Hashable, Sendable {
        /// The names of the files that something happened to.
        package var names: Set<String> = []
        /// Whether more happened than the system kept: any file may have changed.
        package var isIncomplete = false
        /// Whether the folder itself was moved or removed: nothing more will be told.
        package var isOver = false

        package var isEmpty: Bool { self == Changes() }
    }

    private let queue: Descriptor

    /// Begins to watch the folder `path`, which must exist.
    ///
    /// - Throws: ``FileError``, also where the user has no watches left
    ///   (`/proc/sys/fs/inotify/max_user_instances`).
    package init(_ path: String) throws(FileError) {
        do throws(SystemError) {
            let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard number >= 0 else { throw .last }
            queue = Descriptor(owning: number)
            let mask =
                IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF
                | IN_ONLYDIR
            guard inotify_add_watch(number, path, UInt32(mask)) >= 0 else { throw .last }
        } catch {
            throw FileError("watch", path, error)
        }
    }

    /// Can be read from when there is something to take; valid as long as this lives.
    package var descriptor: Int32 { queue.number }

    /// Takes what happened since the last time.
    ///
    /// Never waits.
    package func takeChanges() -> Changes {
        var changes = Changes()
        // Room for many: an event has 16 bytes and a name of at most 256.
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while true {
                let count = read(queue.number, buffer.baseAddress, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                changes.add(UnsafeRawBufferPointer(buffer)[..<count])
            }
        }
        return changes
    }
}

extension FolderWatch.Changes {
    /// Adds the events that one `read` gave.
    fileprivate mutating func add(_ events: Slice<UnsafeRawBufferPointer>) {
        var rest = UnsafeRawBufferPointer(rebasing: events)
        let header = MemoryLayout<inotify_event>.size
        while rest.count >= header {
            let event = rest.loadUnaligned(as: inotify_event.self)
            let mask = Int32(truncatingIfNeeded: event.mask)
            if mask & IN_Q_OVERFLOW != 0 { isIncomplete = true }
            if mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 {
                isOver = true
            }
            let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
            if !name.isEmpty { names.insert(String(decoding: name, as: UTF8.self)) }
            rest = UnsafeRawBufferPointer(
                rebasing: rest.dropFirst(header + Int(event.len)))
        }
    }
}
