import Glibc

/// Returns the path of a program of the package, which is built into the folder of its tests.
package func builtProgram(_ name: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
        decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) + "/\(name)"
}

/// Whether a file may be run as a program.
func isProgram(_ path: String) -> Bool { access(path, X_OK) == 0 }
