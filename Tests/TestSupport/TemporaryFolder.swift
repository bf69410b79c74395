import Glibc

/// A folder of a test's own, removed with all that is in it when the test lets go of it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/modulehost-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PipeFailure(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// The path of something in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    private static func remove(_ path: String) {
        if unlink(path) == 0 || rmdir(path) == 0 { return }
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }
}
