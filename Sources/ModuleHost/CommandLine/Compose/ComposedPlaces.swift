import AppService

/// The folders by which SwiftPM finds the packages of an app.
///
/// A package may name another one by a folder. Where that is not the folder of the app's package of that
/// name, SwiftPM warns, and takes one of the two: not always the same.
struct ComposedPlaces {
    private let modules: String
    /// The folders of the packages, links followed, by the names as SwiftPM compares them.
    private let folders: [String: String]
    /// The names in the folder of checkouts.
    private let names: Set<String>

    /// - Parameters:
    ///   - checkouts: The packages: ModuleHost, and then those of modules.
    ///   - modules: The folder of checkouts, with a link for each package that is elsewhere.
    init(_ checkouts: [Checkout], in modules: String) {
        self.modules = modules
        let names = checkouts.map(\.source.name)
        self.names = Set(names)
        folders = Dictionary(
            zip(names, checkouts).map { ($0.lowercased(), Self.resolved($1.folder)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the folder by which the generated package names a package.
    ///
    /// A package that is used in place is named by its link where all that it names by folders is beside it:
    /// then it finds the app's packages there.
    func place(of checkout: Checkout, _ contents: PackageContents) -> String {
        guard checkout.source.repository == nil, checkout.source.name != Compose.hostFolder,
            let parent = parentFolder(of: checkout.folder)
        else { return checkout.folder }
        let areBeside = contents.folders.allSatisfy { other in
            other.path.hasPrefix("\(parent)/")
                && names.contains(String(other.path.dropFirst(parent.utf8.count + 1)))
        }
        return areBeside ? "\(modules)/\(checkout.source.name)" : checkout.folder
    }

    /// Returns a reason, with the remedy, for each package of the app that a package names by another folder.
    func conflicts(
        of checkout: Checkout, _ contents: PackageContents, at place: String
    ) -> [String] {
        // By its link, it names those of the app.
        if place != checkout.folder { return [] }
        return contents.folders.compactMap { other in
            guard let folder = folders[other.identity], Self.resolved(other.path) != folder else {
                return nil
            }
            return "\(checkout.folder)/Package.swift names \(quoted(other.identity)) by the folder "
                + "\(excerpt(other.path, limit: 500)), while the app has it in \(folder): name it by "
                + "its URL, or by a folder beside the package, as in path: \"../"
                + "\(excerpt(String(other.path.split(separator: "/").last ?? ""), limit: 100))\""
        }
    }

    private static func resolved(_ path: String) -> String { (try? resolvedPath(path)) ?? path }
}
