import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The file of the program that this process runs, even if another file has replaced it.
enum RunningProgram {
    private static let link = "/proc/self/exe"

    /// The file as it was at the first use, which is to be the start of the host; nil where it is not known.
    static let file = linkTarget(link).flatMap { ProgramFile($0, foundBy: link) }

    /// Returns whether a file was changed after the program.
    ///
    /// - Returns: False also where either file cannot be examined.
    static func isOlder(than path: String) -> Bool {
        var (file, program) = (stat(), stat())
        guard stat(path, &file) == 0, stat(link, &program) == 0 else { return false }
        let (changed, built) = (file.st_mtim, program.st_mtim)
        return (changed.tv_sec, changed.tv_nsec) > (built.tv_sec, built.tv_nsec)
    }

    /// The name of the file, without its folder; empty where it cannot be found.
    static var name: String {
        linkTarget(link)?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Returns whether the program is below a folder, with links to the folder resolved.
    static func isBelow(_ folder: String) -> Bool {
        // If the file has another name now, or none, the path ends in " (deleted)".
        guard let program = linkTarget(link), let root = try? resolvedPath(folder) else {
            return false
        }
        return program.hasPrefix("\(root)/")
    }
}
