import Glibc

/// A watch that reports when a file in a folder is created, written or replaced (inotify).
///
/// Removals are not reported: who looks at a folder while it is removed may put a file into it again.
///
/// Not safe to share between threads, except for ``descriptor``, for which any thread may wait.
package final class FolderWatch {
    /// The changes in the folder since they were last taken.
    package struct Changes: Hashable, Sendable {
        /// The names of the files that changed.
        package var names: Set<String> = []
        /// Whether more events happened than the system kept: any file may have changed.
        package var isIncomplete = false
        /// Whether the folder itself, or the one above it, was moved or removed: its path may lead elsewhere.
        package var isOver = false

        package var isEmpty: Bool { self == Changes() }
    }

    private let events: FolderEvents
    private let watches: [Int32]

    /// Begins to watch the folder `path`, which must exist.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - parent: The folder above it, which is then watched for moves as well; nil not to watch it.
    /// - Throws: ``FileError``, also where the user has no watches left
    ///   (`/proc/sys/fs/inotify/max_user_instances`).
    package init(_ path: String, in parent: String? = nil) throws(FileError) {
        do throws(SystemError) {
            events = try FolderEvents()
            let mask =
                IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF
            var watches = [try events.watch(path, for: mask)]
            if let parent {
                watches.append(try events.watch(parent, for: IN_DELETE_SELF | IN_MOVE_SELF))
            }
            self.watches = watches
        } catch {
            throw FileError("watch", path, error)
        }
    }

    /// The descriptor that is readable when there are changes; valid as long as this object lives.
    package var descriptor: Int32 { events.descriptor }

    /// Ends the watch: no more changes are reported.
    ///
    /// Never waits. To release this object, or the end of the process, waits until the system has ended the watch, which
    /// takes up to 10 ms from now.
    package func end() {
        for watch in watches { events.end(watch) }
    }

    /// Takes the changes since the last call.
    package func takeChanges() -> Changes {
        var changes = Changes()
        events.take { event in
            if event.mask & IN_Q_OVERFLOW != 0 { changes.isIncomplete = true }
            if event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 {
                changes.isOver = true
            }
            if !event.name.isEmpty { changes.names.insert(event.name) }
        }
        return changes
    }
}
