import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Returns the processes that hold a lock (`flock`) on a file, as far as the system reports them.
///
/// - Returns: Their numbers in ascending order; empty if there are none, or the system does not report them
///   (`/proc/locks`).
package func lockHolders(of path: String) -> [Int32] {
    var status = stat()
    guard stat(path, &status) == 0, let bytes = try? readFile(at: "/proc/locks", limit: 4 << 20)
    else { return [] }
    // 1: FLOCK  ADVISORY  WRITE 4711 08:01:1234567 0 EOF
    var holders: Set<Int32> = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ")
        // A process that waits is listed behind an arrow.
        guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]),
            words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino)
        else { continue }
        holders.insert(process)
    }
    return holders.sorted()
}
