package import Foundation

/// A process that says on stdout when it is ready: a host, or a server to compare it with.
package struct Server: Sendable {
    /// `@unchecked Sendable`: only asked for its id and its end, which any thread may.
    private struct Running: @unchecked Sendable { let process = Process() }

    private let running = Running()
    private var process: Process { running.process }

    /// Starts it, and waits for its first line.
    ///
    /// - Parameters:
    ///   - path: The executable.
    ///   - arguments: What it is given.
    ///   - log: The file that its stderr goes to.
    /// - Throws: Where it cannot be started, or ends before it is ready.
    package init(_ path: String, _ arguments: [String], log: URL) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
            throw Failure("\(log.path) cannot be written")
        }
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        guard line.starts(with: "ready".utf8) else {
            throw Failure(
                "\(path) did not get ready:\n\(try String(contentsOf: log, encoding: .utf8))")
        }
    }

    /// The process's id.
    package var id: Int32 { process.processIdentifier }

    /// Whether it still runs.
    package var isRunning: Bool { process.isRunning }

    /// Ends the process by TERM, and waits for that.
    package func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// Makes a folder of its own below the working one, on whose disk things are measured; `/tmp` may be none.
package func makeFolder(for name: String) throws -> URL {
    let folder = URL(filePath: FileManager.default.currentDirectoryPath)
        .appending(path: ".build/\(name)-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
