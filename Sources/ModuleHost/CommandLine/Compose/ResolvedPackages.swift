/// The versions of the packages that modules depend on beyond those of the slatefile.
///
/// SwiftPM chooses them, and keeps its choice in `Package.resolved` beside the generated package. The lock
/// has a copy, and each build begins with that: so every machine takes the same commits. SwiftPM moves a pin
/// only where the packages need another version of it, or where it updates.
struct ResolvedPackages: Hashable {
    /// The version of one package.
    struct Pin: Hashable {
        /// The name of the package as SwiftPM compares it.
        let name: String
        /// The word of SwiftPM for the kind of the location, such as `remoteSourceControl`.
        let kind: String
        /// The URL, the folder of the repository, or the name in a registry.
        let location: String
        let branch: String?
        let version: String?
        /// The commit; nil for a package of a registry.
        let commit: String?

        /// The version in words: `1.2.0, 0123456789ab`.
        var words: String {
            let name = version ?? branch.map { "branch \($0)" }
            let words = [name, commit.map { String($0.prefix(12)) }].compactMap(\.self)
            return excerpt(words.joined(separator: ", "), limit: 200)
        }
    }

    /// The pins, sorted by name, one for each.
    private(set) var pins: [Pin] = []

    init() {}

    /// Creates it from pins, of which the last counts where several have the same name.
    init(_ pins: [Pin]) {
        var names: Set<String> = []
        self.pins = pins.reversed().filter { names.insert($0.name).inserted }
            .sortedByText(\.name)
    }

    subscript(name: String) -> Pin? { pins.first { $0.name == name } }
}

extension ResolvedPackages {
    /// The limit of the file, in bytes.
    private static let limit = 4 << 20

    /// Reads a file of SwiftPM.
    ///
    /// - Returns: The pins; none where there is no such file. Nil where it is not of a version that is known.
    init?(at path: String) {
        guard fileExists(path) else {
            self.init()
            return
        }
        guard let bytes = try? readFile(at: path, limit: Self.limit, links: .refused),
            let root = try? JSONValue(parsing: bytes), let version = root["version"]?.int,
            (2...3).contains(version), let pins = root["pins"]?.elements
        else { return nil }
        var read: [Pin] = []
        for value in pins {
            guard let pin = Pin(value, state: value["state"], name: "identity", commit: "revision")
            else { return nil }
            read.append(pin)
        }
        self.init(read)
    }

    /// Makes a file of SwiftPM have these pins and no others, and leaves one that has them as it is.
    func restore(to path: String) throws(FileError) {
        if ResolvedPackages(at: path) == self { return }
        if pins.isEmpty { return try removeFile(path) }
        var json = JSONWriter()
        json.object {
            $0.member("pins") {
                $0.objects(for: pins) { pin, json in
                    json.member("identity", pin.name)
                    json.member("kind", pin.kind)
                    json.member("location", pin.location)
                    json.member("state") {
                        $0.object {
                            if let branch = pin.branch { $0.member("branch", branch) }
                            if let commit = pin.commit { $0.member("revision", commit) }
                            if let version = pin.version { $0.member("version", version) }
                        }
                    }
                }
            }
            $0.member("version", 3)
        }
        json.newline()
        try writeFile(json.bytes, to: path)
    }
}

extension ResolvedPackages.Pin {
    /// Creates a pin from its object in the lock; nil where that is not valid.
    init?(_ value: JSONValue) {
        self.init(value, state: value, name: "name", commit: "commit")
    }

    fileprivate init?(
        _ value: JSONValue, state: JSONValue?, name nameKey: String, commit commitKey: String
    ) {
        guard let name = value[nameKey]?.string, !name.isEmpty,
            let kind = value["kind"]?.string, let location = value["location"]?.string
        else { return nil }
        let (branch, version) = (state?["branch"]?.string, state?["version"]?.string)
        let commit = state?[commitKey]?.string
        guard commit.map(Git.isCommit) ?? (version != nil) else { return nil }
        self.init(
            name: name, kind: kind, location: location, branch: branch, version: version,
            commit: commit)
    }

    /// Writes the members of its object in the lock.
    func write(to json: inout JSONWriter) {
        json.member("name", name)
        json.member("kind", kind)
        json.member("location", location)
        if let branch { json.member("branch", branch) }
        if let version { json.member("version", version) }
        if let commit { json.member("commit", commit) }
    }
}
