import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The reason why a program cannot be started by its name.
enum ProgramError: Error, Hashable {
    case missing
    /// The path is a folder, or this user may not execute the program.
    case notExecutable
}

/// Checks whether a program exists, with the rules of `exec`.
///
/// - Parameters:
///   - name: Its path, or a name without a slash.
///   - folder: The folder that a relative path begins in; nil for the folder of this process.
///   - path: The folders in which names are searched, as in the variable `PATH`.
/// - Returns: The reason why it cannot be started; nil for none. The program may be removed or added before
///   it is started.
func lookForProgram(_ name: String, in folder: String?, path: String?) -> ProgramError? {
    guard !name.contains("/") else {
        let base = folder.map { "\($0)/" } ?? ""
        return lookForProgram(at: name.hasPrefix("/") ? name : base + name)
    }
    var error = ProgramError.missing
    for place in places(of: name, path: path) {
        guard let found = lookForProgram(at: place) else { return nil }
        if found == .notExecutable { error = found }
    }
    return error
}

/// Returns the path of a program that can be started, by a name without a slash.
///
/// - Parameters:
///   - name: Its name.
///   - path: The folders in which it is searched, as in the variable `PATH`.
/// - Returns: The path in the first folder that has it; nil where none has.
func findProgram(_ name: String, path: String?) -> String? {
    places(of: name, path: path).first { lookForProgram(at: $0) == nil }
}

/// Returns the paths at which a program is searched by its name.
private func places(of name: String, path: String?) -> some Sequence<String> {
    (path ?? "/bin:/usr/bin").split(separator: ":").lazy.map { "\($0)/\(name)" }
}

private func lookForProgram(at path: String) -> ProgramError? {
    var status = stat()
    guard stat(path, &status) == 0 else { return .missing }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    return isFile && access(path, X_OK) == 0 ? nil : .notExecutable
}
