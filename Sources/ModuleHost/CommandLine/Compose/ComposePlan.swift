import AppService

extension Slatefile.Module {
    /// The target of its class; nil for a command.
    var target: String? {
        guard case .entry(let entry) = implementation else { return nil }
        return String(entry.prefix { $0 != "." })
    }
}

/// The packages of an app, and the modules that each is there for.
struct ComposePlan {
    /// A package of modules.
    struct Package {
        let source: PackageSource
        /// Its modules, in the order of the slatefile.
        var modules: [Slatefile.Module]

        /// The modules that are classes: without one the package is only cloned.
        var entries: [Slatefile.Module] {
            modules.filter { $0.target != nil }
        }

        var ids: [String] { modules.map(\.id.text) }
    }

    /// The name of the program.
    let program: String
    /// The package ModuleHost.
    let host: PackageSource
    /// The enabled modules that are classes and have no source: they are in the package ModuleHost.
    let hostModules: [Slatefile.Module]
    /// The packages of the others.
    let packages: [Package]

    /// Sorts the enabled modules of a slatefile into packages.
    ///
    /// - Parameters:
    ///   - slatefile: The slatefile.
    ///   - path: Its path, for messages.
    ///   - folder: Its folder, absolute: relative paths begin there.
    ///   - host: The package ModuleHost.
    ///   - only: The ids of the modules that count, the one that the program is named by first; nil for all,
    ///     and the name of the app.
    /// - Throws: ``ComposeError`` with every reason.
    init(
        _ slatefile: Slatefile, path: String, folder: String, host: PackageSource,
        only: [String]? = nil
    ) throws(ComposeError) {
        var reasons: [TerminalText] = []
        var packages: [Package] = []
        /// The packages by the name as SwiftPM compares it.
        var indices: [String: Int] = [:]
        var hostModules: [Slatefile.Module] = []
        let chosen = only.map(Set.init)
        for module in slatefile.modules
        where module.isEnabled && chosen?.contains(module.id.text) ?? true {
            func report(_ reason: String) {
                reasons.append("\(module.place(in: path)): \(reason)")
            }
            guard let written = module.source else {
                if module.target != nil { hostModules.append(module) }
                continue
            }
            let source: PackageSource
            do throws(PackageSource.SourceError) {
                source = try PackageSource(written, in: folder)
            } catch {
                report("module '\(module.id)': \(error.reason)")
                continue
            }
            let identity = source.identity
            if source.isSamePlace(as: host) || identity == Self.hostIdentity {
                report(
                    "module '\(module.id)': the package ModuleHost is the app's 'host'; its modules "
                        + "have neither 'git' nor 'path', and no other package has its name")
                continue
            }
            guard let same = indices[identity] else {
                indices[identity] = packages.count
                packages.append(Package(source: source, modules: [module]))
                continue
            }
            let other = packages[same]
            if other.source.isSamePlace(as: source) {
                if other.source.reference == source.reference {
                    packages[same].modules.append(module)
                    continue
                }
                report(
                    "module '\(module.id)' needs \(source.words), and '\(other.modules[0].id)' needs "
                        + "\(other.source.words): an app has one version of a package, so give both "
                        + "the same branch or tag")
            } else {
                report(
                    "module '\(module.id)' is in \(source.words), and '\(other.modules[0].id)' in "
                        + "\(other.source.words): SwiftPM calls both packages "
                        + "'\(identity)'; rename one of the repositories or folders")
            }
        }
        guard reasons.isEmpty else { throw ComposeError(reasons, .invalidSlatefile) }
        self.host = host
        self.packages = packages
        self.hostModules = hostModules
        let label = only?.first?.split(separator: ".").last.map(String.init)
        program = label ?? Self.programName(slatefile.app)
    }

    /// The name of the package ModuleHost as SwiftPM compares it.
    static let hostIdentity = "modulehost"

    /// Returns the name of an app as that of a file: letters and digits of ASCII, with hyphens between.
    private static func programName(_ app: String) -> String {
        let words = app.split { character in
            !(character.isASCII && (character.isLetter || character.isNumber))
        }
        let name = words.joined(separator: "-")
        return name.isEmpty ? "app" : name
    }
}
