/// A host's claim to its state directory: `hostd.pid`, locked and holding the process number.
///
/// The lock decides, not the number: it ends with the process, however that dies, so a stale file
/// is simply taken over. The file is never removed, because a host could lock it at that very
/// moment, and the next would then lock another of the same name. It is emptied instead.
///
/// The claim lasts as long as this object.
package final class PidFile: Sendable {
    package static let name = "hostd.pid"

    private let file: Descriptor
    /// Whether the last host on the directory did not come to its end by itself: it was killed, or left
    /// modules behind that would not stop.
    let isAfterDeath: Bool
    /// Which file it is (``Descriptor/identity``): no other claim has the same while this one lasts, whatever
    /// becomes of the state directory and its name.
    let identity: String

    /// Makes the state directory where it is missing (0700), and claims it for this process.
    ///
    /// - Throws: ``StateDirectoryError``.
    package init(claiming directory: StateDirectory) throws(StateDirectoryError) {
        let path = directory.path(of: Self.name)
        let file: Descriptor
        do throws(FileError) {
            try makeFolders(directory.path)
            file = try Descriptor(lockFile: path)
        } catch {
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
            throw .busy(path: directory.path, processID: Self.processID(in: file))
        }
        // Not before: to throw would empty the other host's file.
        self.file = file
    }

    deinit { try? file.truncate(to: 0) }

    /// Who has claimed a state directory.
    package enum Holder: Hashable, Sendable {
        /// Nobody: no host runs on it.
        case nobody
        /// A host; its process where that is known.
        case host(processID: Int32?)
    }

    /// Finds out whether a host runs on the directory, without being in the way of one that starts.
    package static func holder(of directory: StateDirectory) -> Holder {
        guard let file = try? Descriptor(opening: directory.path(of: name)),
            let isFree = try? file.tryLock(.shared), !isFree
        else { return .nobody }
        return .host(processID: processID(in: file))
    }

    /// Waits until no host runs on the directory, such as one that was told to stop.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - time: How long. A thread that was in vain waits on, until the process ends.
    /// - Returns: Whether nobody has claimed it.
    package static func waitForRelease(
        of directory: StateDirectory, within time: Duration
    ) -> Bool {
        guard holder(of: directory) != .nobody, let released = try? WakeSignal() else {
            return holder(of: directory) == .nobody
        }
        // No lock can be waited for with a limit.
        try? NativeThread.start(name: "pid file") {
            if let file = try? Descriptor(opening: directory.path(of: name)) {
                try? file.lock(.shared)
            }
            released.give()
        }
        return released.wait(within: time)
    }

    /// Whether the last host on the directory came to its end by itself; one that was killed leaves
    /// its number behind.
    ///
    /// To be asked when nobody has claimed the directory.
    package static func isLetGo(in directory: StateDirectory) -> Bool {
        (try? Descriptor(opening: directory.path(of: name)).read(upTo: 1))?.isEmpty ?? false
    }

    /// Takes the lock, past those who only look whether it is taken.
    ///
    /// Such a look is a shared lock of a moment. Where a shared lock can be had beside it, no host
    /// holds the exclusive one, and it is worth another try.
    private static func claim(_ file: borrowing Descriptor) throws(SystemError) -> Bool {
        for _ in 0..<1000 {
            if try file.tryLock(.exclusive) { return true }
            guard try file.tryLock(.shared) else { return false }
            file.unlock()
        }
        return false
    }

    /// The process that the file names, if it is alive.
    ///
    /// A host that has just taken the lock may not have written its number yet, and that of a dead
    /// one stand there instead.
    private static func processID(in file: borrowing Descriptor) -> Int32? {
        guard let bytes = try? file.read(upTo: 32),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
            let number = Int32(line), CurrentProcess.exists(number)
        else { return nil }
        return number
    }
}
