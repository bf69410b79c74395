import Foundation

/// A file to which whole lines are appended: one is on the disk when that returns, or not in the file.
final class LedgerFile {
    private let handle: FileHandle
    /// Where the next line goes: what stands behind was torn off when a host died.
    private var end: UInt64
    /// The lines that it had when it was opened.
    let lines: [Data]

    init(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let newline = UInt8(ascii: "\n")
        let content = try handle.readToEnd() ?? Data()
        let whole = content.lastIndex(of: newline).map { content[...$0] } ?? Data()
        lines = whole.split(separator: newline)
        end = UInt64(whole.count)
    }

    func append(_ line: Data) throws {
        try handle.truncate(atOffset: end)
        try handle.seek(toOffset: end)
        try handle.write(contentsOf: line + [UInt8(ascii: "\n")])
        try handle.synchronize()
        end += UInt64(line.count) + 1
    }
}
