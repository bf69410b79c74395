import Glibc

/// Returns the resident memory of a process in bytes; nil if there is no such process, or the system does not
/// report it.
package func residentBytes(ofProcess id: Int32) -> Int? {
    guard let bytes = try? readFile(at: "/proc/\(id)/statm", limit: 4096) else { return nil }
    // The second field, after the size of the address space (proc(5)).
    guard let field = bytes.split(separator: UInt8(ascii: " ")).dropFirst().first,
        let pages = Int(String(decoding: field, as: UTF8.self))
    else { return nil }
    return pages * sysconf(Int32(_SC_PAGESIZE))
}
