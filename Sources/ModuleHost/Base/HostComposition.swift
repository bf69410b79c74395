import AppService

/// The packages of which a program was composed: the record that `hostd compose` writes into the program.
///
/// `APP --version --json` and `APP modules --available` print it.
public struct HostComposition: Hashable, Sendable {
    /// One package.
    public struct Package: Hashable, Sendable {
        /// The name of the package, as SwiftPM knows it.
        public let name: String
        /// The ids of the modules that it has, in the order of the slatefile; none for the package ModuleHost.
        public let modules: [String]
        /// The targets of the package in which these modules are.
        public let targets: [String]
        /// The repository or the folder.
        public let source: String
        /// The branch or the tag, such as `branch main`; nil for neither.
        public let reference: String?
        /// The commit; nil for a folder without git.
        public let commit: String?
        /// Whether files differed from the commit.
        public let isModified: Bool

        /// Creates the record of a package.
        public init(
            name: String, modules: [String] = [], targets: [String] = [], source: String,
            reference: String? = nil, commit: String? = nil, isModified: Bool = false
        ) {
            self.name = name
            self.modules = modules
            self.targets = targets
            self.source = source
            self.reference = reference
            self.commit = commit
            self.isModified = isModified
        }
    }

    /// The packages: ModuleHost first, then those of the modules in the order of the slatefile.
    public let packages: [Package]
    /// The ids of the modules of an app that has only a part of its slatefile; empty for a whole app.
    ///
    /// First the one that it was composed for (`compose --only`), which is the main one there, and then those
    /// that it needs.
    public let only: [String]

    /// Creates the record of a program.
    public init(packages: [Package], only: [String] = []) {
        self.packages = packages
        self.only = only
    }

    /// The record of the running program; nil where it was not composed, or no command line runs.
    package static let running = Guarded<HostComposition?>(nil)

    /// Returns whether the running program was composed with a module.
    package static func contains(_ id: ModuleID?) -> Bool {
        guard let id = id?.text, let running = running.withLock(\.self) else { return false }
        return running.packages.contains { $0.modules.contains(id) }
    }
}
