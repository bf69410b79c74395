import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The reason why a program cannot be started by its name.
enum ProgramError: Error, Hashable {
    case missing
    /// The path is a folder, or this user may not execute the program.
    case notExecutable
    /// The program is a script, and the interpreter that the first line names does not exist.
    case noInterpreter(String)
    /// The program is a script whose first line ends with CR LF, and the CR becomes a part of the name of the
    /// interpreter.
    case carriageReturn(String)
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
        return lookForProgram(at: name.hasPrefix("/") ? name : base + name, in: folder)
    }
    var error = ProgramError.missing
    for candidate in candidates(of: name, path: path) {
        guard let found = lookForProgram(at: candidate, in: folder) else { return nil }
        if found != .missing { error = found }
    }
    return error
}

/// Returns the path of a program that can be started, by a name without a slash.
///
/// - Parameters:
///   - name: Its name.
///   - path: The folders in which it is searched, as in the variable `PATH`.
/// - Returns: The path in the first folder that has it; nil where none has.
package func findProgram(_ name: String, path: String?) -> String? {
    candidates(of: name, path: path).first { lookForFile(at: $0) == nil }
}

/// Returns the paths at which a program is searched by its name.
private func candidates(of name: String, path: String?) -> some Sequence<String> {
    (path ?? "/bin:/usr/bin").split(separator: ":").lazy.map { "\($0)/\(name)" }
}

private func lookForProgram(at path: String, in folder: String?) -> ProgramError? {
    lookForFile(at: path) ?? lookForInterpreter(of: path, in: folder)
}

private func lookForFile(at path: String) -> ProgramError? {
    var status = stat()
    guard stat(path, &status) == 0 else { return .missing }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    return isFile && access(path, X_OK) == 0 ? nil : .notExecutable
}

/// Checks the first line of a script, `#!INTERPRETER [ARGUMENT]`, as the kernel reads it.
private func lookForInterpreter(of path: String, in folder: String?) -> ProgramError? {
    // The kernel looks at 256 bytes, and at no file that it cannot read.
    guard let file = try? Descriptor(opening: path), let bytes = try? file.read(upTo: 256),
        bytes.starts(with: "#!".utf8)
    else { return nil }
    let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 0 }
    guard let name = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
    // `env` takes the interpreter from the argument. Others may accept an argument that ends with a CR.
    if line.last == UInt8(ascii: "\r"), words.count == 1 || name.hasSuffix("/env") {
        return .carriageReturn(String(decoding: line.dropLast(), as: UTF8.self))
    }
    let base = folder.map { "\($0)/" } ?? ""
    let isThere = fileExists(name.hasPrefix("/") ? name : base + name)
    return isThere ? nil : .noInterpreter(name)
}
