internal import AppService
import ModuleHostCore

/// The file of the metrics, for writers on any thread; it is removed at the end.
final class MetricsFile: Sendable {
    private struct State {
        /// The path of the file that was written last; nil if there is none.
        var path: String?
        /// Whether the file is removed, and no other is written.
        var isOver = false
    }

    /// The last writer of each file.
    ///
    /// A module that takes the place of another may write the file before the other one removes it.
    private static let writers = Guarded<[String: ObjectIdentifier]>([:])

    private let state = Guarded(State())

    /// Replaces the file as a whole; does nothing once it is removed.
    ///
    /// A file with another path that was written before is removed.
    ///
    /// - Throws: ``FileError``.
    func write(_ bytes: some Collection<UInt8>, to path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard !state.isOver else { return }
            try Self.writers.withLock { writers throws(FileError) in
                try writeFile(bytes, to: path)
                writers[path] = ObjectIdentifier(self)
            }
            let former = state.path
            state.path = path
            if let former, former != path { try remove(former) }
        }
    }

    /// Removes the file that was written; no other is written from now on.
    ///
    /// - Throws: ``FileError``.
    func remove() throws(FileError) {
        try state.withLock { state throws(FileError) in
            state.isOver = true
            guard let path = state.path else { return }
            state.path = nil
            try remove(path)
        }
    }

    /// Removes a file, unless another writer has written it since.
    private func remove(_ path: String) throws(FileError) {
        try Self.writers.withLock { writers throws(FileError) in
            guard writers[path] == ObjectIdentifier(self) else { return }
            writers[path] = nil
            try removeFile(path)
        }
    }
}
