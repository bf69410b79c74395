import AppService
import Glibc
import Synchronization

/// Folders that a test declares to be on a full disk: this process can write no more to files in them.
///
/// A write costs one load of an atomic more, as long as there is no such folder.
package enum FullDisks {
    private static let isAny = Atomic(false)
    private static let folders = Guarded<Set<String>>([])

    /// Adds a folder by its path, without a slash at the end.
    package static func add(_ folder: String) { change { $0.insert(folder) } }

    /// Removes a folder.
    package static func remove(_ folder: String) { change { $0.remove(folder) } }

    /// Returns whether a folder was added, and not removed.
    package static func contain(folder: String) -> Bool { folders.withLock { $0.contains(folder) } }

    private static func change(_ body: (inout Set<String>) -> Void) {
        folders.withLock { folders in
            body(&folders)
            isAny.store(!folders.isEmpty, ordering: .relaxed)
        }
    }

    /// Returns whether the file of an open descriptor is in one of the folders.
    static func contain(_ descriptor: Int32) -> Bool {
        guard isAny.load(ordering: .relaxed) else { return false }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        let path = String(
            decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return folders.withLock { $0.contains { path.hasPrefix("\($0)/") } }
    }
}
