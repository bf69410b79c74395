/// The place of a package: its repository with a reference, or its folder.
struct PackageSource: Hashable {
    /// The source as the slatefile, or an option, names it.
    let written: Slatefile.Source
    /// The address for git, or the folder for SwiftPM; relative paths are absolute here.
    let location: String
    /// The name of the package for SwiftPM, and of its folder: the last part of the location.
    let name: String

    /// Finds the location and the name.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - folder: The folder, absolute, in which relative paths begin.
    ///   - name: The name, where it does not follow from the location.
    /// - Throws: The reason, with the remedy.
    init(
        _ source: Slatefile.Source, in folder: String, as name: String? = nil
    ) throws(SourceError) {
        written = source
        switch source {
        case .git(let text, _):
            location = Self.isPath(text) ? Self.absolute(text, in: folder) : text
            self.name = name ?? Self.lastPart(of: location)
        case .path(let text):
            let path = Self.absolute(text, in: folder)
            guard let resolved = try? resolvedPath(path) else {
                throw SourceError(reason: "there is no folder '\(excerpt(path, limit: 500))'")
            }
            location = resolved
            self.name = name ?? Self.lastPart(of: resolved)
        }
        let name = self.name
        let isName =
            name.utf8.allSatisfy { SourceRules.isName($0) } && name.utf8.count <= 100
            && !name.isEmpty && !name.hasPrefix(".") && !name.hasPrefix("-")
        guard isName else {
            throw SourceError(
                reason: "'\(excerpt(location, limit: 500))' ends in \(quoted(name)), which cannot "
                    + "name a package: rename it to letters, digits, '-', '_' and '.'")
        }
    }

    struct SourceError: Error, Hashable {
        let reason: String
    }

    /// The name as SwiftPM compares it.
    var identity: String { name.lowercased() }

    /// Returns whether the two are the same repository or folder, whatever the reference.
    func isSamePlace(as other: PackageSource) -> Bool {
        func plain(_ source: PackageSource) -> Substring {
            var text = source.location[...]
            while text.count > 1, text.hasSuffix("/") { text.removeLast() }
            return text.hasSuffix(".git") ? text.dropLast(4) : text
        }
        return repository != nil && other.repository != nil
            ? plain(self) == plain(other)
            : location == other.location && repository == other.repository
    }

    /// The text of the repository, as it is written; nil for a folder.
    var repository: String? {
        if case .git(let text, _) = written { text } else { nil }
    }

    /// The branch or the tag.
    var reference: Slatefile.GitReference? {
        if case .git(_, let reference) = written { reference } else { nil }
    }

    /// The source in words: `https://…, branch main`.
    var words: String {
        excerpt(location, limit: 300) + (reference.map { ", \($0.words)" } ?? "")
    }

    /// Returns whether the text of a repository is a path, and neither a URL nor `user@host:path`.
    private static func isPath(_ text: String) -> Bool {
        !text.contains(bytesOf: "://") && !(text.prefix { $0 != "/" }.contains(":"))
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    private static func lastPart(of text: String) -> String {
        var text = text[...]
        while text.hasSuffix("/") { text.removeLast() }
        if text.hasSuffix(".git") { text = text.dropLast(4) }
        while text.hasSuffix("/") { text.removeLast() }
        let start = text.lastIndex { $0 == "/" || $0 == ":" }
        return String(start.map { text[text.index(after: $0)...] } ?? text)
    }
}

extension Slatefile.GitReference {
    /// The reference in words: `branch main`.
    var words: String {
        switch self {
        case .branch(let name): "branch \(excerpt(name, limit: 200))"
        case .tag(let name): "tag \(excerpt(name, limit: 200))"
        }
    }
}
