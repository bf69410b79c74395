/// A host's claim to its state directory, and `hostd.pid`, which contains its process number.
///
/// The claim is a lock on the directory itself, which cannot be taken away from the host: another directory
/// of the same path is a different one. `hostd.pid` is locked as well, since that is the lock of earlier
/// versions, and of file systems that cannot lock a directory, such as NFS. A control socket that is answered
/// counts as a lock, too. Locks end with the process, however it ends, so a stale file is simply taken over.
///
/// The file is never removed, because a host could lock it at that very moment, and the next would then lock
/// another of the same name. It is emptied instead.
///
/// The claim lasts as long as this object.
package final class PidFile: Sendable {
    package static let name = "hostd.pid"

    private let folder: Descriptor
    private let file: Descriptor
    /// Whether the last host on the directory did not end by itself: it was killed, or left modules behind
    /// that did not stop.
    let isAfterDeath: Bool
    /// The identity of the file (``Descriptor/identity``): unique while the claim lasts, even if the state
    /// directory is moved or removed.
    let identity: String

    /// Creates the state directory where it is missing (0700), and claims it for this process.
    ///
    /// - Throws: ``StateDirectoryError``.
    package init(claiming directory: StateDirectory) throws(StateDirectoryError) {
        let folder = try Self.claimFolder(of: directory)
        let path = directory.path(of: Self.name)
        let file: Descriptor
        do throws(FileError) { file = try Descriptor(lockFile: path) } catch {
            throw .unusable(path: directory.path, error)
        }
        let isClaimed: Bool
        do throws(SystemError) {
            isClaimed = try Self.claim(file)
            identity = try file.identity
            isAfterDeath = try file.size > 0
            if isClaimed { try file.replaceContent(with: "\(CurrentProcess.id)\n".utf8) }
        } catch {
            throw .unusable(path: directory.path, FileError("write", path, error))
        }
        guard isClaimed else {
            throw .busy(path: directory.path, processID: Self.processID(on: directory))
        }
        // Not earlier: throwing would empty the other host's file.
        self.file = file
        self.folder = folder
    }

    deinit {
        try? file.truncate(to: 0)
        // A process that was forked meanwhile has copies of the descriptors, which would keep the locks.
        file.unlock()
        folder.unlock()
    }

    /// Locks the directory, and checks whether a host runs on it that has not locked it.
    private static func claimFolder(
        of directory: StateDirectory
    ) throws(StateDirectoryError) -> Descriptor {
        let folder: Descriptor
        do throws(FileError) {
            try makeFolders(directory.path)
            folder = try openFolder(directory.path)
        } catch {
            throw .unusable(path: directory.path, error)
        }
        // On a file system that cannot lock a directory, the other two checks remain.
        let isClaimed = (try? claim(folder)) ?? true
        let answerer = LocalSocket.answerer(at: directory.path(of: StateDirectory.socketName))
        guard isClaimed, answerer == nil else {
            throw .busy(
                path: directory.path,
                processID: answerer?.processID ?? processID(on: directory))
        }
        return folder
    }

    /// The process that has claimed a state directory.
    package enum Holder: Hashable, Sendable {
        /// No host runs on the directory.
        case nobody
        /// A host runs on the directory; its process where that is known.
        case host(processID: Int32?)
        /// The directory is another user's, who allows no other to look.
        case unknown
    }

    /// Finds out whether a host runs on the directory, without blocking one that starts.
    package static func holder(of directory: StateDirectory) -> Holder {
        var isClosed = false
        for path in lockPaths(of: directory) {
            do throws(SystemError) {
                let file = try Descriptor(opening: path)
                guard let isFree = try? file.tryLock(.shared), !isFree else { continue }
                return .host(processID: processID(on: directory))
            } catch {
                if path == directory.path, error == .accessDenied { isClosed = true }
            }
        }
        return isClosed ? .unknown : .nobody
    }

    /// Waits until no host runs on the directory, such as one that was asked to stop.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: The longest wait. On a timeout, the thread behind it waits on until the process ends.
    /// - Returns: Whether it is not claimed.
    package static func waitForRelease(
        of directory: StateDirectory, within time: Duration
    ) -> Bool {
        guard holder(of: directory) != .nobody, let released = try? WakeSignal() else {
            return holder(of: directory) == .nobody
        }
        // A lock cannot be waited for with a timeout.
        try? NativeThread.start(name: "pid file") {
            for path in lockPaths(of: directory) {
                if let file = try? Descriptor(opening: path) { try? file.lock(.shared) }
            }
            released.give()
        }
        return released.wait(within: time)
    }

    /// Returns whether the last host on the directory ended by itself; a host that was killed leaves its
    /// number behind.
    ///
    /// Valid only when the directory is not claimed.
    package static func isLetGo(in directory: StateDirectory) -> Bool {
        (try? Descriptor(opening: directory.path(of: name)).read(upTo: 1))?.isEmpty ?? false
    }

    /// Returns the files that a host on the directory locks, and that other programs may share for a moment.
    private static func lockPaths(of directory: StateDirectory) -> [String] {
        [directory.path, directory.path(of: name)]
    }

    /// Takes a lock, and ignores processes that only check whether it is taken.
    ///
    /// Such a check is a shared lock of a moment. Where a shared lock can be taken beside it, no host has the
    /// exclusive lock, and another attempt is made.
    private static func claim(_ file: borrowing Descriptor) throws(SystemError) -> Bool {
        for _ in 0..<1000 {
            if try file.tryLock(.exclusive) { return true }
            guard try file.tryLock(.shared) else { return false }
            file.unlock()
        }
        return try file.tryLock(.exclusive)
    }

    /// Returns the process of the host on a directory, where the file or the system reports it.
    ///
    /// A host that has just taken the lock may not have written its number yet, and the number of a dead host
    /// may stand there instead.
    private static func processID(on directory: StateDirectory) -> Int32? {
        if let file = try? Descriptor(opening: directory.path(of: name)),
            let bytes = try? file.read(upTo: 32),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
            let number = Int32(line), CurrentProcess.exists(number)
        {
            return number
        }
        // The file was removed, or is damaged.
        let holders = lockHolders(of: directory.path).filter { $0 != CurrentProcess.id }
        return holders.count == 1 ? holders[0] : nil
    }
}
