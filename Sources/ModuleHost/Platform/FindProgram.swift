import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The reason why a program cannot be started by its name.
enum ProgramFault: Error, Hashable {
    case missing
    /// It is a folder, or this user may not execute it.
    case notExecutable
}

/// Looks whether there is a program, as `exec` does.
///
/// - Parameters:
///   - name: Its path, or a name without a slash.
///   - folder: What a relative path begins at; nil for the folder of this process.
///   - path: The folders in which names are looked for, as in the variable `PATH`.
/// - Returns: What is wrong; nil for nothing. It may be gone, or have come, when it is started.
func lookForProgram(_ name: String, in folder: String?, path: String?) -> ProgramFault? {
    guard !name.contains("/") else {
        let base = folder.map { "\($0)/" } ?? ""
        return lookForProgram(at: name.hasPrefix("/") ? name : base + name)
    }
    var fault = ProgramFault.missing
    for place in (path ?? "/bin:/usr/bin").split(separator: ":") {
        guard let found = lookForProgram(at: "\(place)/\(name)") else { return nil }
        if found == .notExecutable { fault = found }
    }
    return fault
}

private func lookForProgram(at path: String) -> ProgramFault? {
    var status = stat()
    guard stat(path, &status) == 0 else { return .missing }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    return isFile && access(path, X_OK) == 0 ? nil : .notExecutable
}
