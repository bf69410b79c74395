import Foundation

/// A process that serves a socket, from its first line on stdout until ``stop()``.
struct Server {
    private let process = Process()

    init(_ path: String, _ arguments: [String], log: String) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        guard FileManager.default.createFile(atPath: log, contents: nil),
            let errors = FileHandle(forWritingAtPath: log)
        else { throw ControlFailure("\(log) cannot be written") }
        process.standardError = errors
        try process.run()
        // The first line says that it is ready.
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        guard line.starts(with: "ready".utf8) else {
            throw ControlFailure(
                "\(path) did not get ready:\n\(try String(contentsOfFile: log, encoding: .utf8))")
        }
    }

    /// Ends the process, and waits for that.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
