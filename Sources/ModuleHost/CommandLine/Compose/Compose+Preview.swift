extension Compose {
    /// Returns the package as it would be built: commits from the lock, and products by their names.
    ///
    /// Changes nothing, starts no program, and needs no network: a package that is yet to be read has the
    /// product that the slatefile names, or one that is called as the target.
    ///
    /// - Returns: The lines, each with its end.
    /// - Throws: ``ComposeError``.
    func preview() throws(ComposeError) -> String {
        let lock = try ComposeLock.read(request.lockPath)
        var lines = [
            "// \(plan.program): \(excerpt(request.folder, limit: 1000))/bin/\(plan.program)"
        ]
        func add(_ name: String, _ source: PackageSource) {
            let pin = lock.pin(of: source)
            let commit =
                source.repository == nil ? "in place" : pin?.commit ?? "the newest commit: no pin"
            lines.append("// \(name): \(source.words), \(commit)")
        }
        add(Self.hostFolder, plan.host)
        var dependencies = [
            GeneratedPackage.Dependency(
                name: Self.hostFolder, folder: "\(request.folder)/modules/\(Self.hostFolder)",
                products: ["ModuleHost", "Modules"])
        ]
        for package in plan.packages {
            add(package.source.name, package.source)
            var products: [String] = []
            for module in package.entries {
                guard let product = module.product ?? module.target else { continue }
                if !products.contains(product) { products.append(product) }
            }
            guard !products.isEmpty else { continue }
            let isInPlace = package.source.repository == nil
            dependencies.append(
                GeneratedPackage.Dependency(
                    name: package.source.name,
                    folder: isInPlace
                        ? package.source.location
                        : "\(request.folder)/modules/\(package.source.name)",
                    products: products))
        }
        for pin in lock.packages.pins {
            lines.append(
                "// \(excerpt(pin.name, limit: 100)): \(excerpt(pin.location, limit: 300)), \(pin.words)"
            )
        }
        let package = GeneratedPackage(
            program: plan.program, dependencies: dependencies,
            composition: HostComposition(packages: []))
        return lines.map { "\($0)\n" }.joined() + package.manifest
    }
}
