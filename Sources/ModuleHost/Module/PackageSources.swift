/// The Swift files of the package that a slatefile and the running program belong to.
///
/// A class is searched where a package has it by convention: `Target.Type` in a file `Type.swift` anywhere
/// below `Sources/Target`. In a package in which the program was built, a source counts only if it is newer.
struct PackageSources {
    /// Limits of the search: file names in all, and depth of nested folders.
    private enum Limits {
        static let names = 20_000
        static let depth = 8
    }

    /// A source of a class that the program lacks.
    enum Found {
        /// The source was changed after the program was built.
        case newer(String)
        /// The source belongs to a package in which the program was not built.
        case elsewhere(String)
        /// The program has no class of the target, and another program of the package is a host with all
        /// commands: `name`. The source is the target's folder where the class has no file.
        case otherHost(source: String, name: String)
    }

    /// The folders that have a manifest; absolute.
    private let roots: [String]
    private let workingFolder: String
    /// The files in each target's folder that was searched, by name.
    private var targets: [String: [String: [String]]] = [:]
    /// The targets of which the program has classes.
    private lazy var ownTargets = Set(ProgramTypes.classes().map(\.target))
    /// The programs of each package that are hosts with all commands: their names, by their targets.
    private var hosts: [String: [String: String]] = [:]
    private var room = Limits.names

    /// Finds the packages: that of the slatefile's folder, and that of the working directory.
    init(near slatefile: String) {
        workingFolder = parentFolder(of: CurrentProcess.absolute("Package.swift")) ?? "/"
        let folder = parentFolder(of: CurrentProcess.absolute(slatefile)) ?? "/"
        var roots: [String] = []
        for start in [folder, workingFolder] {
            guard let root = Self.root(of: start), !roots.contains(root) else { continue }
            roots.append(root)
        }
        self.roots = roots
    }

    /// Returns the nearest folder with a manifest, from `folder` upwards.
    private static func root(of folder: String) -> String? {
        var folder: String? = folder
        while let candidate = folder {
            if fileExists("\(candidate)/Package.swift") { return candidate }
            folder = parentFolder(of: candidate)
        }
        return nil
    }

    /// Finds a source of an entry's class.
    ///
    /// - Parameter entry: The entry, such as `Modules.PushModule`.
    /// - Returns: The source, by its path for a message; nil where there is none.
    mutating func find(_ entry: String) -> Found? {
        let parts = entry.split(separator: ".").map(String.init)
        guard parts.count == 2 else { return nil }
        for root in roots {
            let target = "\(root)/Sources/\(parts[0])"
            if targets[target] == nil {
                var files: [String: [String]] = [:]
                list(target, depth: 1, into: &files)
                targets[target] = files
            }
            let files = targets[target]?["\(parts[1]).swift"] ?? []
            if !ownTargets.contains(parts[0]), fileExists(target),
                let host = host(of: parts[0], in: root)
            {
                return .otherHost(source: shown(files.first ?? target), name: host)
            }
            if !RunningProgram.isBelow(root) {
                if let file = files.first { return .elsewhere(shown(file)) }
            } else if let file = files.first(where: RunningProgram.isOlder) {
                return .newer(shown(file))
            }
        }
        return nil
    }

    /// Returns the program of a package that has a target; nil where that is not known.
    ///
    /// It is the target itself, or the only one that is a host; never the running program.
    private mutating func host(of target: String, in root: String) -> String? {
        if hosts[root] == nil {
            var found: [String: String] = [:]
            for folder in (try? namesInFolder("\(root)/Sources")) ?? [] {
                let main = "\(root)/Sources/\(folder)/main.swift"
                let text = (try? readFile(at: main, limit: 1 << 16)) ?? []
                found[folder] = Self.programName(in: String(decoding: text, as: UTF8.self))
            }
            hosts[root] = found
        }
        let all = hosts[root] ?? [:]
        guard let host = all[target] ?? (all.count == 1 ? all.values.first : nil),
            !(RunningProgram.isBelow(root) && host == RunningProgram.name)
        else { return nil }
        return host
    }

    /// Returns the name that a `main.swift` gives to its program: `HostCommandLine.run(name: "shop", …`.
    private static func programName(in text: String) -> String? {
        guard let call = text.firstRange(ofBytes: "HostCommandLine.run(") else { return nil }
        let rest = text[call.upperBound...].drop { $0.isWhitespace }
        guard rest.hasPrefix("name:") else { return nil }
        let literal = rest.dropFirst("name:".count).drop { $0.isWhitespace }
        let name = literal.dropFirst().prefix { $0 != "\"" && $0 != "\n" && $0 != "\\" }
        return literal.first == "\"" && !name.isEmpty ? excerpt(String(name), limit: 100) : nil
    }

    private func shown(_ path: String) -> String {
        path.hasPrefix("\(workingFolder)/") ? String(path.dropFirst(workingFolder.count + 1)) : path
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
