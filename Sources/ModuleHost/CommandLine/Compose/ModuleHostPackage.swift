/// The package ModuleHost on this machine.
enum ModuleHostPackage {
    /// The version of the package, as a manifest names it.
    enum Requirement: Hashable {
        case tag(String)
        case commit(String)
    }

    /// Returns the folder of the package, absolute.
    ///
    /// - Parameter folder: The folder that a person named; nil for the package of this program: the one in
    ///   whose folder it was built, or the one that its own package has a link to or a checkout of.
    /// - Returns: The folder; nil where the package is not there.
    static func folder(_ folder: String?) -> String? {
        let candidates =
            folder.map { [CurrentProcess.absolute($0)] }
            ?? foldersAboveProgram().flatMap { folder in
                let checkouts = ((try? namesInFolder("\(folder)/checkouts")) ?? []).sorted()
                return [folder, "\(folder)/ModuleHost", "\(folder)/modules/ModuleHost"]
                    + checkouts.map { "\(folder)/checkouts/\($0)" }
            }
        return candidates.first {
            fileExists("\($0)/Package.swift") && fileExists("\($0)/Sources/ModuleHost")
        }
    }

    /// Returns the repository of a folder of the package, and the version that is checked out there.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - environment: The variables of this process.
    /// - Returns: The repository and the version; nil where git does not know them, or where the commit is on no
    ///   branch of the repository: others could not fetch it.
    static func repository(
        in folder: String, _ environment: [String: String]
    ) -> (url: String, requirement: Requirement)? {
        guard fileExists("\(folder)/.git"), let git = try? git(environment) else { return nil }
        func lines(_ arguments: [String], in place: String = folder) -> [String] {
            guard let result = try? git.run(arguments, in: place), result.isSuccess else {
                return []
            }
            return result.output
        }
        let askForURL = ["config", "--get", "remote.origin.url"]
        guard var url = lines(askForURL).first, let commit = lines(["rev-parse", "HEAD"]).first,
            Git.isCommit(commit),
            lines(["rev-list", "--count", "HEAD", "--not", "--remotes", "--tags"]) == ["0"]
        else { return nil }
        // SwiftPM checks a package out from a copy of its repository.
        if folder.contains(bytesOf: "/checkouts/"), url.contains(bytesOf: "/repositories/") {
            guard let original = lines(askForURL, in: url).first else { return nil }
            url = original
        }
        guard SourceRules.problem(ofRepository: url) == nil else { return nil }
        let tag = lines(["tag", "--points-at", "HEAD"]).first(where: isVersion)
        return (url, tag.map { .tag($0) } ?? .commit(commit))
    }

    /// Asks a repository of the package for the version of this program, or else for its newest commit.
    ///
    /// - Throws: ``ComposeError`` where git cannot read the repository, or there is no commit.
    static func requirement(
        in source: PackageSource, _ environment: [String: String]
    ) throws(ComposeError) -> Requirement {
        let remote = try git(environment).remote(source, for: "--package")
        for tag in [HostVersion.current, "v\(HostVersion.current)"]
        where remote.commit(at: .tag(tag)) != nil {
            return .tag(tag)
        }
        guard let commit = remote.commit(at: nil) else {
            throw ComposeError("--package: \(source.location) has no commit", .unavailable)
        }
        return .commit(commit)
    }

    private static func git(_ environment: [String: String]) throws(ComposeError) -> Git {
        let progress = ComposeProgress(note: { _ in }, show: { _ in }, clear: {})
        let children = ComposeChildren(environment: environment, progress: progress)
        return Git(
            program: try children.find("git", "install git, such as by 'apt-get install git'"),
            children: children)
    }

    /// Returns whether SwiftPM takes a tag for a version: `1.2.3` or `v1.2.3`.
    private static func isVersion(_ tag: String) -> Bool {
        let parts = tag.drop { $0 == "v" }.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { UInt32($0) != nil }
    }
}
