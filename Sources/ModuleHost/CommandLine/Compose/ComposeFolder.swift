/// The folder in which an app is composed, and the names in it.
///
/// | name | |
/// |---|---|
/// | `modules/NAME` | the checkout of a repository, or a link to a folder |
/// | `modules/ModuleHost` | the checkout of the host's package, or a link to its folder |
/// | `Package.swift`, `Sources` | the generated package |
/// | `.build` | what SwiftPM builds |
/// | `bin/NAME` | the last program that was built and checked |
/// | `bin/PACKAGE_TARGET.resources` | the resources of a target |
/// | `build.log` | what SwiftPM said last |
///
/// One process works in it at a time. No link in the place of one of its own folders is followed.
final class ComposeFolder {
    let path: String
    /// Locked as long as this object lives.
    private let lock: Descriptor

    var modules: String { "\(path)/modules" }
    var manifest: String { "\(path)/Package.swift" }
    /// The versions that SwiftPM chose.
    var resolved: String { "\(path)/Package.resolved" }
    var main: String { "\(path)/Sources/\(GeneratedPackage.target)/main.swift" }
    var binaries: String { "\(path)/bin" }
    var log: String { "\(path)/build.log" }
    var caches: String { "\(path)/.compose" }

    /// Creates the folder where it is missing, and takes its lock.
    ///
    /// - Parameter path: Its path, absolute.
    /// - Throws: ``ComposeError``, also where another process works in it.
    init(_ path: String) throws(ComposeError) {
        self.path = path
        let isNew = !NewFiles.isTaken(path)
        // It may have another package, which would be overwritten.
        let isOwn = isNew || NewFiles.isTaken("\(path)/.compose")
        if !isOwn, let names = try? namesInFolder(path), !names.isEmpty {
            throw ComposeError(
                "\(path) has files that compose did not make; name a new folder by --output",
                .cannotCreate)
        }
        lock = try ComposeError.files { () throws(FileError) in
            try makeFolders(path, mode: 0o755)
            for name in [
                "modules", "Sources", "Sources/\(GeneratedPackage.target)", "bin", ".compose",
            ] {
                guard !isLink("\(path)/\(name)") else {
                    throw FileError(
                        "write to", "\(path)/\(name)", .tooManyLinks,
                        explanation: "it is a symbolic link, which is not followed here")
                }
                try makeFolders("\(path)/\(name)", mode: 0o755)
            }
            return try Descriptor(lockFile: "\(path)/.compose/lock")
        }
        guard (try? lock.tryLock(.exclusive)) == true else {
            throw ComposeError(
                "another compose works in \(path); wait for its end, or name another folder by --output",
                .busy)
        }
        // Made by compose, and for this machine: version control has the slatefile and the lock.
        if isNew {
            try ComposeError.files { () throws(FileError) in
                try writeFile("*\n".utf8, to: "\(path)/.gitignore")
            }
        }
        try removeLeftovers()
    }

    /// The name of a file that an interrupted compose may leave.
    static let unfinished = ".unfinished-"

    private func removeLeftovers() throws(ComposeError) {
        for folder in [modules, binaries] {
            try ComposeError.files { () throws(FileError) in
                for name in try namesInFolder(folder) where name.hasPrefix(Self.unfinished) {
                    try removeTree("\(folder)/\(name)")
                }
            }
        }
    }

    /// Writes a generated file, unless it has this content already: SwiftPM goes by the times of files.
    func write(_ text: String, to path: String) throws(ComposeError) {
        let bytes = Array(text.utf8)
        if let old = try? readFile(at: path, limit: 4 << 20, links: .refused), old == bytes {
            return
        }
        try ComposeError.files { () throws(FileError) in
            try writeFile(bytes, to: path)
        }
    }
}
