import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A process that was started with a certain variable, its mark.
///
/// The programs that it starts have the mark, too, unless it is removed. The system reports the variables
/// that a program was started with. A program is not found if it has overwritten them, as some do to change
/// how `ps` shows them, or if the system does not let its own user read them.
struct MarkedProcess: Hashable, Sendable {
    let id: Int32
    /// The name as the system keeps it: 15 bytes at most.
    let name: String
    /// The value of the variable.
    let mark: String

    /// Finds processes of this user, except this one and its parent.
    ///
    /// - Returns: The running processes, in no particular order. Processes that have ended and were not
    ///   reaped are left out.
    /// - Throws: ``FileError`` where the system does not report them (`/proc`).
    static func all(
        with variable: String, beginning prefix: String
    ) throws(FileError) -> [MarkedProcess] {
        let start = Array("\(variable)=\(prefix)".utf8)
        let user = geteuid()
        let own = [getpid(), getppid()]
        return try namesInFolder("/proc").compactMap { number in
            var status = stat()
            guard let id = Int32(number), !own.contains(id),
                stat("/proc/\(id)", &status) == 0, status.st_uid == user,
                let entry = environmentEntry(beginning: start, of: id)
            else { return nil }
            let name = (try? readFile(at: "/proc/\(id)/comm", limit: 4096)) ?? []
            return MarkedProcess(
                id: id,
                name: String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self),
                mark: String(decoding: entry.dropFirst(variable.utf8.count + 1), as: UTF8.self))
        }
    }

    /// Kills the process, unless it has ended.
    func kill(with variable: String) {
        // The pidfd calls are not visible to Swift, so the number might become another process's between this
        // check and the signal: in microseconds, and once the system has given away all other numbers.
        let entry = Array("\(variable)=\(mark)".utf8)
        guard let found = Self.environmentEntry(beginning: entry, of: id),
            found.count == entry.count
        else { return }
        _ = Glibc.kill(id, SIGKILL)
    }

    private static func environmentEntry(
        beginning start: [UInt8], of process: Int32
    ) -> ArraySlice<UInt8>? {
        guard let bytes = try? readFile(at: "/proc/\(process)/environ", limit: 16 << 20) else {
            return nil
        }
        return bytes.split(separator: 0).first { $0.starts(with: start) }
    }
}
