import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A watch that reports when a path may lead to another file, or to other contents: the file is written or
/// replaced or removed, a link on the way is switched, a folder on the way is removed or created.
///
/// It watches the folders that the path leads through now, link by link, and follows the path again after
/// each change. No other change in those folders counts.
///
/// Not safe to share between threads, except for ``descriptor``, for which any thread may wait.
package final class PathWatch {
    /// The events to watch for in the folders on the way.
    private enum Mask {
        /// The events for the folder of the file.
        static let file = IN_CLOSE_WRITE | IN_MODIFY | entry
        /// The events for a folder in which a name may change its meaning.
        static let entry = IN_MOVED_TO | IN_CREATE | IN_MOVED_FROM | IN_DELETE | folder
        /// The events for a folder that can only be moved or removed itself.
        static let folder = IN_DELETE_SELF | IN_MOVE_SELF
    }

    private let path: String
    private let events: FolderEvents
    /// The names that count, by the watch of their folder.
    private var names: [Int32: Set<String>] = [:]

    /// Begins to watch.
    ///
    /// - Parameter path: The path; its target need not exist.
    /// - Throws: ``FileError``, also where the user has no watches left.
    package init(_ path: String) throws(FileError) {
        self.path = CurrentProcess.absolute(path)
        do throws(SystemError) { events = try FolderEvents() } catch {
            throw FileError("watch", path, error)
        }
        try follow()
    }

    /// The descriptor that is readable when there are changes; valid as long as this object lives.
    package var descriptor: Int32 { events.descriptor }

    /// Waits for changes, and takes them.
    ///
    /// - Parameter time: The longest wait.
    /// - Throws: ``FileError``, as ``takeChanges()``.
    package func awaitChanges(within time: Duration) throws(FileError) {
        var poll = PollSet()
        poll.insert(descriptor, .reading)
        let milliseconds = time.wholeNanoseconds / 1_000_000 + 1
        if poll.wait(milliseconds: Int32(clamping: max(1, milliseconds))) { _ = try takeChanges() }
    }

    /// Takes the changes since the last call.
    ///
    /// Never waits.
    ///
    /// - Returns: Whether the path may lead to something else.
    /// - Throws: ``FileError`` where the folders that it leads through now cannot be watched.
    package func takeChanges() throws(FileError) -> Bool {
        var isOther = false
        events.take { event in
            if event.mask & IN_Q_OVERFLOW != 0 { isOther = true }
            guard let names = names[event.watch] else { return }
            // An event without a name concerns the folder itself.
            if event.name.isEmpty || names.contains(event.name) { isOther = true }
        }
        if isOther { try follow() }
        return isOther
    }

    /// Watches the folders that the path leads through now.
    private func follow() throws(FileError) {
        // A folder that is removed meanwhile is searched again.
        for _ in 0..<8 {
            let way = PathWay(path)
            do throws(FileError) {
                return try watch(way)
            } catch  where error.reason == .notFound || error.reason == .notDirectory {
                continue
            }
        }
        throw FileError("watch", path, .notFound)
    }

    private func watch(_ way: PathWay) throws(FileError) {
        var former = Set(names.keys)
        var watched: [Int32: Set<String>] = [:]
        for (folder, stop) in way.stops {
            let mask = stop.isEnd ? Mask.file : stop.names.isEmpty ? Mask.folder : Mask.entry
            do throws(SystemError) {
                let watch = try events.watch(folder, for: mask)
                watched[watch, default: []].formUnion(stop.names)
                former.remove(watch)
            } catch {
                // The watch could only report that the folder is removed, and reading the folder may not be
                // permitted.
                if mask == Mask.folder { continue }
                throw FileError("watch", folder, error)
            }
        }
        names = watched
        for watch in former { events.end(watch) }
    }
}

/// The folders that a path leads through, each by its own path without links.
private struct PathWay {
    struct Stop {
        /// The names in the folder that the path depends on: links, the file itself, or a missing name.
        var names: Set<String> = []
        /// Whether the path ends here.
        var isEnd = false
    }

    private(set) var stops: [String: Stop] = [:]

    /// - Parameter path: The absolute path.
    init(_ path: String) {
        var rest = Self.parts(path)
        var folder = "/"
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                folder = parentFolder(of: folder) ?? "/"
                continue
            }
            if stops[folder] == nil { stops[folder] = Stop() }
            let full = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            if links < 40, let target = linkTarget(full) {
                stops[folder, default: Stop()].names.insert(name)
                links += 1
                if target.hasPrefix("/") { folder = "/" }
                rest += Self.parts(target)
            } else if isFolder(full) {
                folder = full
            } else {
                // The file; or a missing name that may be created.
                stops[folder, default: Stop()].names.insert(name)
                stops[folder, default: Stop()].isEnd = true
                return
            }
        }
    }

    /// Returns the components of a path, the last one first.
    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/").reversed().map(String.init)
    }
}

/// Returns the target of a symbolic link; nil if `path` is not one.
func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
        guard let address = buffer.baseAddress else { return nil }
        let count = readlink(path, address, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}
