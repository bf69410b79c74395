/// The products that a program is linked with: for each module the one with its class.
struct ComposedProducts {
    private var dependencies: [GeneratedPackage.Dependency] = []
    private var records: [HostComposition.Package] = []

    /// Reads the packages, and finds the products.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - checkouts: The packages: ModuleHost, and then those of the plan.
    ///   - reading: Reads the contents of packages.
    ///   - path: The path of the slatefile, for messages.
    /// - Throws: ``ComposeError`` with every reason: a class without a product, targets of one name.
    init(
        _ plan: ComposePlan, _ checkouts: [Checkout], _ reading: PackageReading, path: String
    ) throws(ComposeError) {
        var reasons: [TerminalText] = []
        var targets: [String: (owner: String, folder: String)] = [:]
        let all =
            [(checkouts[0], plan.hostModules, [Compose.host])]
            + zip(checkouts.dropFirst(), plan.packages).map { ($0, $1.entries, $1.ids) }
        let places = ComposedPlaces(checkouts, in: reading.folder.modules)
        for (index, (checkout, modules, users)) in all.enumerated() {
            let isHost = index == 0
            var products = isHost ? ["ModuleHost", "Modules"] : []
            if isHost || !modules.isEmpty {
                let contents = try reading.contents(of: checkout, for: users[0])
                for module in modules {
                    guard case .entry(let entry) = module.implementation else { continue }
                    do throws(PackageContents.ContentsError) {
                        let product = try contents.product(for: entry, named: module.product)
                        if !products.contains(product) { products.append(product) }
                    } catch {
                        reasons.append(
                            """
                            \(module.place(in: path)): module '\(module.id)' \
                            (\(checkout.folder)): \(error.reason)
                            """)
                    }
                }
                // Two copies of the package would be in the program, each with all of its targets.
                for other in contents.folders
                where other.identity != ComposePlan.hostIdentity
                    && fileExists("\(other.path)/Sources/ModuleHost")
                {
                    reasons.append(
                        """
                        '\(users[0])': \(checkout.folder)/Package.swift names ModuleHost by the folder \
                        \(other.path), which SwiftPM calls '\(other.identity)': name it by its URL, or by \
                        a link or folder with the name ModuleHost, as in path: "../ModuleHost"
                        """)
                }
                let place = places.place(of: checkout, contents)
                for conflict in places.conflicts(of: checkout, contents, at: place) {
                    reasons.append("'\(users[0])': \(conflict)")
                }
                for target in contents.targets where contents.takesPart(target, in: products) {
                    if let other = targets[target.name] {
                        reasons.append(
                            """
                            '\(users[0])' and '\(other.owner)' both have a target '\(target.name)', in \
                            \(checkout.folder) and \(other.folder): Swift has one module of a name in a \
                            program; rename one of them
                            """)
                    } else {
                        targets[target.name] = (users[0], checkout.folder)
                    }
                }
                let name = isHost ? Compose.hostFolder : checkout.source.name
                dependencies.append(.init(name: name, folder: place, products: products))
            }
            records.append(Self.record(checkout, modules, isHost ? [] : users, isHost: isHost))
        }
        guard reasons.isEmpty else { throw ComposeError(reasons, .invalidSlatefile) }
    }

    private static func record(
        _ checkout: Checkout, _ modules: [Slatefile.Module], _ ids: [String], isHost: Bool
    ) -> HostComposition.Package {
        return HostComposition.Package(
            name: isHost ? Compose.hostFolder : checkout.source.name, modules: ids,
            targets: isHost ? [] : Set(modules.compactMap(\.target)).sorted(),
            source: checkout.source.location,
            reference: checkout.source.reference?.words, commit: checkout.commit,
            isModified: checkout.isModified)
    }

    /// Returns the package of a program, of a part of the slatefile where `only` is not empty.
    func package(named program: String, only: [String]) -> GeneratedPackage {
        GeneratedPackage(
            program: program, dependencies: dependencies,
            composition: HostComposition(packages: records, only: only))
    }
}
