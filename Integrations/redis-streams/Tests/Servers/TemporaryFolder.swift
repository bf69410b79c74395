import EventStreams
import Foundation

@testable import FileStreams

/// A folder on a small disk of its own, if the test may mount one; it is removed with the object.
final class TemporaryFolder: Sendable {
    static let canMount = geteuid() == 0 && TestProgram.run("mount", "--version")

    let path: String
    private let isMounted: Bool

    init(megabytes: Int) throws {
        path = try newFolder()
        isMounted =
            Self.canMount
            && TestProgram.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path)
    }

    /// Leaves no room on the disk.
    func fill() throws {
        guard isMounted else { throw ServerError(text: "no disk of its own") }
        _ = TestProgram.run("dd", "if=/dev/zero", "of=\(path)/filler", "bs=4k")
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: path + "/filler") }

    deinit {
        if isMounted { _ = TestProgram.run("umount", "-l", path) }
        try? FileManager.default.removeItem(atPath: path)
    }
}

enum FileDeadLetters {
    static func read(_ bytes: Data) throws -> [String] {
        EntryFile(Array(bytes)).entries.map { entry in
            let words = entry.fields.map { String(decoding: $0, as: UTF8.self) }
            return "\(words[1]) \(entry.position) \(words[3])"
        }
    }
}
