/// The dependency of a new package on the package ModuleHost.
enum ModuleHostDependency: Hashable {
    /// A link beside the manifest to a folder of this machine.
    case link(to: String)
    /// A repository, which every machine reaches.
    case repository(url: String, package: String, ModuleHostPackage.Requirement)

    /// Finds the dependency.
    ///
    /// - Parameter said: The folder or the URL that a person named; nil for the repository and the version of
    ///   this program's package, or its folder where git does not know these.
    /// - Throws: ``NewModuleError`` where there is no such package.
    init(_ said: String?) throws(NewModuleError) {
        let environment = CurrentProcess.environment()
        if let said, !fileExists(said), said.contains(":") {
            if let problem = SourceRules.problem(ofRepository: said) {
                throw .invalidPart("--package", problem)
            }
            self = try Self.repository(said, environment)
            return
        }
        guard let folder = ModuleHostPackage.folder(said) else { throw .noPackage(said) }
        if said == nil, let (url, version) = ModuleHostPackage.repository(in: folder, environment),
            let source = try? PackageSource(.git(url, nil), in: folder)
        {
            self = .repository(url: source.location, package: source.name, version)
        } else {
            self = .link(to: folder)
        }
    }

    private static func repository(
        _ url: String, _ environment: [String: String]
    ) throws(NewModuleError) -> ModuleHostDependency {
        let source: PackageSource
        do throws(PackageSource.SourceError) {
            source = try PackageSource(.git(url, nil), in: "/")
        } catch {
            throw .invalidPart("--package", error.reason)
        }
        do throws(ComposeError) {
            let version = try ModuleHostPackage.requirement(in: source, environment)
            return .repository(url: source.location, package: source.name, version)
        } catch {
            throw NewModuleError(
                text: error.reasons.map { "\($0)" as TerminalText }.joined(separator: "\n"),
                exitCode: error.exitCode)
        }
    }

    /// The name of the package for SwiftPM.
    var package: String {
        switch self {
        case .link: Self.linkName
        case .repository(_, let package, _): package
        }
    }

    /// The name of the link.
    static let linkName = "ModuleHost"

    /// The lines that declare the dependency in `Package.swift`.
    var declaration: String {
        switch self {
        case .link:
            """
            // A link beside this file, which git ignores; README.md tells how to name a repository instead.
                dependencies: [.package(name: "\(Self.linkName)", path: "\(Self.linkName)")],
            """
        case .repository(let url, _, let requirement):
            """
            dependencies: [
                    .package(
                        url: \(swiftLiteral(url)),
                        \(requirement.argument))
                ],
            """
        }
    }

    /// The paragraph of the app's README on building the app elsewhere.
    func note(program: String) -> String {
        switch self {
        case .link:
            """
            `ModuleHost` is a link to the package of this name on this machine, which git ignores: in a clone of \
            this app, or on
            another machine, `swift build` does not find the package. Either make the link there, too,

            ```sh
            ln -s FOLDER ModuleHost
            ```

            or let `Package.swift` name the package by a repository that all machines reach, with its version or \
            commit. Then `package:`
            of each `.product` is the last part of the URL, without `.git`:

            ```swift
            dependencies: [.package(url: "https://HOST/ModuleHost.git", exact: "\(HostVersion.current)")],
            ```

            `\(program) new app NAME --package URL` writes such a manifest.
            """
        case .repository(let url, let package, let requirement):
            """
            `Package.swift` names the package ModuleHost by its repository, `\(url)`, and its \
            \(requirement.word): a clone of this
            app builds on every machine that reaches the repository. For another version, change it there. To \
            build with a
            ModuleHost in a folder: `swift package edit \(package) --path FOLDER`, and back by
            `swift package unedit \(package)`. \
            `\(program) new app NAME --package FOLDER` makes an app that uses a folder from the start.
            """
        }
    }
}

extension ModuleHostPackage.Requirement {
    /// The argument of `.package(url:…)`.
    fileprivate var argument: String {
        switch self {
        case .tag(let tag): "exact: \(swiftLiteral(String(tag.drop { $0 == "v" })))"
        case .commit(let commit): "revision: \(swiftLiteral(commit))"
        }
    }

    fileprivate var word: String {
        switch self {
        case .tag: "version"
        case .commit: "commit"
        }
    }
}
