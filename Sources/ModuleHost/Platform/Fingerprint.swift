import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A hash of the names, sizes and times of files: equal as long as nothing was written.
///
/// It is compared on one machine only, with what the same program computed before.
package struct Fingerprint: Hashable, CustomStringConvertible {
    // FNV-1a: no more is needed to notice a change that is not made to deceive.
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// Creates the fingerprint of a text.
    package init(of text: [UInt8]) { add(text) }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // Else two texts could share their border.
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }

    package mutating func add(_ text: String) { add(text.utf8) }

    package mutating func add(_ number: Int) {
        withUnsafeBytes(of: number) { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
    }

    /// Adds a file by its kind, size and time; a link by itself, and not what it leads to.
    ///
    /// - Returns: Whether it is a folder; nil where there is no such file, which counts, too.
    @discardableResult
    package mutating func add(file path: String) -> Bool? {
        var status = stat()
        add(path)
        guard lstat(path, &status) == 0 else { return nil }
        add(Int(status.st_mode))
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        // The time of a folder changes with files in it that do not count.
        if !isFolder {
            add(Int(status.st_size))
            add(status.st_mtim.tv_sec)
            add(status.st_mtim.tv_nsec)
        }
        return isFolder
    }

    /// The name of the folders in which Python keeps compiled modules: no change to a package.
    package static let cacheFolder = "__pycache__"

    /// Adds a file by its size and time; where it is a link, what it leads to.
    package mutating func add(target path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        add(Int(status.st_ino))
        add(Int(status.st_size))
        add(status.st_mtim.tv_sec)
        add(status.st_mtim.tv_nsec)
    }

    /// Adds all files in a folder and below it, but those with names that begin with a dot, and caches.
    ///
    /// - Parameters:
    ///   - folder: The folder; where it is a link, the folder that it leads to.
    ///   - except: A folder that is left out.
    ///   - room: How many files there may be, of which those that were added are subtracted.
    /// - Returns: Whether there was room for all, and each folder could be listed.
    package mutating func add(below folder: String, except: String, room: inout Int) -> Bool {
        guard let names = try? namesInFolder(folder) else { return false }
        for name in names.sorted() where !name.hasPrefix(".") && name != Self.cacheFolder {
            guard room > 0 else { return false }
            room -= 1
            let path = "\(folder)/\(name)"
            if path == except { continue }
            if add(file: path) == true, !add(below: path, except: except, room: &room) {
                return false
            }
        }
        return true
    }

    /// The hash, as text.
    package var description: String { String(hash, radix: 16) }
}
