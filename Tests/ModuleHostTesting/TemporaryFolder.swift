import Glibc
import ModuleHostCore
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A folder for one test, removed with its contents when the last reference to it is released.
///
/// Pass it to two hosts, one after the other, to test what a module keeps on the disk:
///
/// ```swift
/// let folder = try TemporaryFolder()
/// try await TestHost.run(modules: [Counter.self], .init(folder: folder)) { _ in }
/// try await TestHost.run(modules: [Counter.self], .init(folder: folder)) { host in … }
/// ```
public final class TemporaryFolder: Sendable {
    /// The path of the folder, without a slash at the end.
    public let path: String

    /// Creates an empty folder for this user alone, in `/tmp`.
    ///
    /// - Throws: ``FileError``.
    public init() throws {
        var template = Array("/tmp/modulehost-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw FileError("create folder", "/tmp/modulehost-XXXXXX", SystemError(code: errno))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A folder that is there, such as one inside of another.
    ///
    /// - Parameter path: Its path.
    package init(at path: String) { self.path = path }

    deinit { Self.remove(path) }

    /// Returns the path of a file in the folder.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the files and folders in the folder, sorted.
    public var names: [String] { ((try? namesInFolder(path)) ?? []).sorted() }

    private static func remove(_ path: String) {
        if unlink(path) == 0 || rmdir(path) == 0 { return }
        for name in (try? namesInFolder(path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }
}

extension TemporaryFolder {
    /// Returns the text of a file in the folder, of 16 MiB at most.
    ///
    /// - Throws: ``FileReadError``, also where there is no such file.
    public func text(of name: String) throws -> String {
        String(decoding: try readFile(at: path(name), limit: 16 << 20), as: UTF8.self)
    }

    /// Writes a file into the folder, in place of one of this name.
    ///
    /// - Throws: ``FileError``.
    public func write(_ text: String, to name: String) throws {
        try writeFile(text.utf8, to: path(name))
    }

    /// Gives a file in the folder another name.
    ///
    /// - Throws: ``FileError``.
    package func move(_ name: String, to other: String) throws {
        guard rename(path(name), path(other)) == 0 else {
            throw FileError("rename", path(name), SystemError(code: errno))
        }
    }

    /// The permissions of a file in the folder.
    ///
    /// - Throws: ``FileError``.
    package func mode(of name: String) throws -> UInt32 {
        var status = Glibc.stat()
        guard stat(path(name), &status) == 0 else {
            throw FileError("look at", path(name), SystemError(code: errno))
        }
        return status.st_mode & 0o777
    }
}
