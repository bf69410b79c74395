/// The commits at which an app takes its repositories: the file `slatefile.lock` beside the slatefile.
///
/// One line for each repository, sorted, so that two changes rarely meet on one line; then one for each
/// package beyond those of the slatefile.
struct ComposeLock: Hashable {
    /// The commit of a repository at a reference.
    struct Pin: Hashable {
        let repository: String
        let reference: Slatefile.GitReference?
        var commit: String
        /// The modules that it is for, or `host`: for readers of the file alone.
        var users: [String]
    }

    private(set) var pins: [Pin] = []
    /// The versions of the packages beyond those of the slatefile, which SwiftPM chose.
    var packages = ResolvedPackages()

    /// The limit of the file, in bytes.
    private static let limit = 4 << 20

    /// Returns the path of the lock of a slatefile.
    static func path(ofSlatefile path: String) -> String {
        (path.hasSuffix(".json") ? String(path.dropLast(5)) : path) + ".lock"
    }

    /// Reads the file.
    ///
    /// - Returns: The lock; empty where there is no such file.
    /// - Throws: ``ComposeError`` where it cannot be read, or is not such a file.
    static func read(_ path: String) throws(ComposeError) -> ComposeLock {
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: path, limit: limit)
        } catch {
            if error.reason == .missing { return ComposeLock() }
            throw ComposeError("\(error)", .noInput)
        }
        let remedy: TerminalText = """
            restore it from version control, or remove it: the next compose then takes the newest commits
            """
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONValue(parsing: bytes)
        } catch {
            throw ComposeError("\(path) is not JSON: \(error); \(remedy)", .noInput)
        }
        guard root["lock"]?.int == 1, root["pins"]?.kind == .array else {
            throw ComposeError("\(path) is not a lock of version 1; \(remedy)", .noInput)
        }
        func invalid(_ value: JSONValue) -> ComposeError {
            ComposeError(
                "\(path):\(value.place.line):\(value.place.column): not a valid pin; \(remedy)",
                .noInput)
        }
        var lock = ComposeLock()
        var pins: [Pin] = []
        for value in (root["pins"]?.elements).map(Array.init) ?? [] {
            guard let pin = Pin(value) else { throw invalid(value) }
            pins.append(pin)
        }
        lock.set(pins)
        var packages: [ResolvedPackages.Pin] = []
        for value in (root["packages"]?.elements).map(Array.init) ?? [] {
            guard let pin = ResolvedPackages.Pin(value) else { throw invalid(value) }
            packages.append(pin)
        }
        lock.packages = ResolvedPackages(packages)
        return lock
    }

    /// Returns the pin of a repository at a reference.
    func pin(of source: PackageSource) -> Pin? {
        pins.first { $0.repository == source.repository && $0.reference == source.reference }
    }

    /// Sets pins, in the place of those of the same repositories and references; of several, the last counts.
    mutating func set(_ new: [Pin]) {
        var origins: Set<Origin> = []
        let last = (pins + new).reversed().filter {
            origins.insert(Origin(repository: $0.repository, reference: $0.reference)).inserted
        }
        // In the order in which they were set, where two have the same text.
        pins = last.reversed().sortedByText(\.key)
    }

    /// Removes the pins that are for none of these sources.
    mutating func keep(_ sources: [PackageSource]) {
        let origins = Set(
            sources.map { Origin(repository: $0.repository, reference: $0.reference) })
        pins.removeAll { pin in
            !origins.contains(Origin(repository: pin.repository, reference: pin.reference))
        }
    }

    /// A repository at a reference.
    private struct Origin: Hashable {
        let repository: String?
        let reference: Slatefile.GitReference?
    }

    /// The text of the file.
    var text: [UInt8] {
        func list<Pin>(
            _ name: String, _ pins: [Pin], _ write: (Pin, inout JSONWriter) -> Void
        ) -> String {
            let lines = pins.map { pin in
                var json = JSONWriter()
                json.object { write(pin, &$0) }
                return "    " + String(decoding: json.bytes, as: UTF8.self)
            }
            let list = lines.joined(separator: ",\n")
            return "  \"\(name)\": " + (lines.isEmpty ? "[]" : "[\n\(list)\n  ]")
        }
        var parts = ["  \"lock\": 1", list("pins", pins) { $0.write(to: &$1) }]
        if !packages.pins.isEmpty {
            parts.append(list("packages", packages.pins) { $0.write(to: &$1) })
        }
        return Array("{\n\(parts.joined(separator: ",\n"))\n}\n".utf8)
    }
}

extension ComposeLock.Pin {
    /// Creates a pin from its object in the file; nil where that is not valid.
    fileprivate init?(_ value: JSONValue) {
        guard let repository = value["git"]?.string, let commit = value["commit"]?.string,
            SourceRules.problem(ofRepository: repository) == nil, Git.isCommit(commit)
        else { return nil }
        let (branch, tag) = (value["branch"]?.string, value["tag"]?.string)
        guard branch == nil || tag == nil,
            [branch, tag].allSatisfy({
                $0.map { SourceRules.problem(ofReference: $0) == nil } ?? true
            })
        else { return nil }
        self.init(
            repository: repository,
            reference: branch.map { .branch($0) } ?? tag.map { .tag($0) }, commit: commit,
            users: value["for"]?.elements.compactMap(\.string) ?? [])
    }

    /// Writes the members of its object.
    fileprivate func write(to json: inout JSONWriter) {
        json.member("git", repository)
        switch reference {
        case .branch(let name)?: json.member("branch", name)
        case .tag(let name)?: json.member("tag", name)
        case nil: break
        }
        json.member("commit", commit)
        json.member("for", users)
    }

    fileprivate var key: String { repository + (reference.map { " \($0.words)" } ?? "") }
}
