import Glibc

/// Tells when something in a folder is created, written or put in another's place (inotify).
///
/// Not safe to share between threads, but for ``descriptor``, which any may wait for.
package final class FolderWatch {
    /// The changes in the folder since they were last taken.
    package struct Changes: Hashable, Sendable {
        /// The names of the files that something happened to.
        package var names: Set<String> = []
        /// Whether more happened than the system kept: any file may have changed.
        package var isIncomplete = false
        /// Whether the folder itself, or the one above it, was moved or removed: nothing more is reported.
        package var isOver = false

        package var isEmpty: Bool { self == Changes() }
    }

    private let events: FolderEvents

    /// Begins to watch the folder `path`, which must exist.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - parent: The folder above it, where that is watched for being moved; nil where it is not.
    /// - Throws: ``FileError``, also where the user has no watches left
    ///   (`/proc/sys/fs/inotify/max_user_instances`).
    package init(_ path: String, in parent: String? = nil) throws(FileError) {
        do throws(SystemError) {
            events = try FolderEvents()
            let mask =
                IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF
            _ = try events.watch(path, for: mask)
            if let parent { _ = try events.watch(parent, for: IN_DELETE_SELF | IN_MOVE_SELF) }
        } catch {
            throw FileError("watch", path, error)
        }
    }

    /// Can be read from when there is something to take; valid as long as this lives.
    package var descriptor: Int32 { events.descriptor }

    /// Takes what happened since the last time.
    ///
    /// Never waits.
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
