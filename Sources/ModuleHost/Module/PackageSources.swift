/// The Swift files of the package that a slatefile and the running program belong to.
///
/// A class is looked for where a package has it by convention: `Target.Type` in a file `Type.swift` anywhere below
/// `Sources/Target`. A package that the program was not built in says nothing about it.
struct PackageSources {
    /// Limits of the search: file names in all, and depth of nested folders.
    private enum Limits {
        static let names = 20_000
        static let depth = 8
    }

    /// The folders that have a manifest, and the program below them; absolute.
    private let roots: [String]
    private let workingFolder: String
    /// The files of each target that was looked for, by name.
    private var targets: [String: [String: [String]]] = [:]
    private var room = Limits.names

    /// Finds the packages: that of the slatefile's folder, and that of the working directory.
    ///
    /// - Parameter slatefile: The slatefile's path.
    init(near slatefile: String) {
        workingFolder = parentFolder(of: CurrentProcess.absolute("Package.swift")) ?? "/"
        let folder = parentFolder(of: CurrentProcess.absolute(slatefile)) ?? "/"
        var roots: [String] = []
        for start in [folder, workingFolder] {
            guard let root = Self.root(of: start), RunningProgram.isBelow(root) else { continue }
            if !roots.contains(root) { roots.append(root) }
        }
        self.roots = roots
    }

    /// The nearest folder with a manifest, from `folder` upwards.
    private static func root(of folder: String) -> String? {
        var folder: String? = folder
        while let candidate = folder {
            if fileExists("\(candidate)/Package.swift") { return candidate }
            folder = parentFolder(of: candidate)
        }
        return nil
    }

    /// A source of this entry that was changed after the program of this process was built.
    ///
    /// - Parameter entry: The entry, such as `Modules.PushModule`.
    /// - Returns: Its path, for a message; nil where there is none.
    mutating func newerFile(of entry: String) -> String? {
        let parts = entry.split(separator: ".").map(String.init)
        guard parts.count == 2, !roots.isEmpty else { return nil }
        let (target, name) = (parts[0], "\(parts[1]).swift")
        if targets[target] == nil {
            var files: [String: [String]] = [:]
            for root in roots { list("\(root)/Sources/\(target)", depth: 1, into: &files) }
            targets[target] = files
        }
        let found = targets[target]?[name]?.first(where: RunningProgram.isOlder)
        guard let found, found.hasPrefix("\(workingFolder)/") else { return found }
        return String(found.dropFirst(workingFolder.count + 1))
    }

    /// Adds the Swift files in a folder and those below it.
    private mutating func list(
        _ folder: String, depth: Int, into files: inout [String: [String]]
    ) {
        guard depth <= Limits.depth, room > 0, let names = try? namesInFolder(folder) else {
            return
        }
        room -= names.count
        for name in names.sorted() {
            if name.hasSuffix(".swift") {
                files[name, default: []].append("\(folder)/\(name)")
            } else if !name.contains(".") {
                list("\(folder)/\(name)", depth: depth + 1, into: &files)
            }
        }
    }
}
