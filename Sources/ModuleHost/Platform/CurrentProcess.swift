import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Facts about this process.
package enum CurrentProcess {
    package static var id: Int32 { getpid() }
    /// Whether this is the first process of its PID namespace, to which the system hands orphaned processes.
    static var isInit: Bool { getpid() == 1 }
    /// The effective user, whose permissions count.
    package static var userID: UInt32 { geteuid() }

    /// Makes a process of root act as the owner of a file from now on: files that it creates belong to the
    /// owner, and it follows no link that the owner could not.
    ///
    /// Has no effect where the file is root's or does not exist, or the process is not root's.
    package static func actAsOwner(of path: String) {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return }
        // The group first: changing it takes root.
        _ = setegid(status.st_gid)
        _ = seteuid(status.st_uid)
    }

    /// The name under which the program was started, without its folder.
    package static var programName: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The number of processors that are online.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Returns the current environment.
    ///
    /// A name that is set twice has its first value. Bytes that are not UTF-8 are replaced (``NonUTF8Variables``).
    ///
    /// Call it once, at the start: the system offers no safe way to read the environment beside a thread that
    /// changes it.
    package static func environment() -> [String: String] {
        NonUTF8Variables.read()
        var result: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if let split = line.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(line[..<split])
                let value = String(line[line.utf8.index(after: split)...])
                if result[name] == nil { result[name] = value }
            }
            entry += 1
        }
        return result
    }

    /// Removes variables from the environment, so that no child inherits them.
    ///
    /// Only while no other thread exists: it might read the environment at that moment.
    package static func removeFromEnvironment(_ names: [String]) {
        for name in names { unsetenv(name) }
    }

    /// Returns the absolute path of the file that `path` names in this process.
    ///
    /// Links and `..` stay as they are.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        let name = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
        let start = String(cString: folder)
        return start == "/" ? "/\(name)" : "\(start)/\(name)"
    }

    /// Returns whether a process with this number exists, of any user.
    package static func exists(_ id: Int32) -> Bool {
        id > 0 && (kill(id, 0) == 0 || errno == EPERM)
    }

    /// Ends the process, after its `atexit` handlers.
    package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }

    /// Ends the process at once: no `atexit` handlers, no waiting for threads that may never return.
    package static func exitNow(_ status: Int32) -> Never { _exit(status) }
}
