extension Compose {
    /// The record of all that the program is made of, but the lock.
    func filesStamp(_ folder: ComposeFolder) -> ComposeStamp {
        let packages =
            ([plan.host] + plan.packages.map(\.source)).map { source in
                source.repository == nil
                    ? source.location : "\(folder.modules)/\(source.name)"
            }
        return ComposeStamp(
            texts: [
                request.text, Array("\(request.options) \(request.host) \(only)".utf8),
                Array(HostVersion.current.utf8), PackageResources.ComposedPackage_swift_template,
                PackageResources.composed_main_swift_template,
            ],
            files: findProgram("swift", path: environment["PATH"]).map { [$0] } ?? [],
            packages: packages, except: (try? resolvedPath(folder.path)) ?? folder.path)
    }

    /// The folders in which the compiler may report errors.
    func owners(
        _ packages: [Checkout], _ folder: ComposeFolder
    ) -> [(folder: String, name: String)] {
        var owners: [(folder: String, name: String)] = []
        for (checkout, package) in zip(packages.dropFirst(), plan.packages) {
            let modules = package.ids.count == 1 ? "module" : "modules"
            for place in [checkout.folder, "\(folder.modules)/\(package.source.name)"] {
                owners.append((place, "\(modules) \(enumerated(package.ids))"))
            }
        }
        return owners + [
            (packages[0].folder, "the package ModuleHost"),
            (plan.host.location, "the package ModuleHost"),
            ("\(folder.path)/Sources", "the generated program"),
        ]
    }

    /// Pins the versions that SwiftPM chose for the packages beyond those of the slatefile.
    func pinPackages(
        in folder: ComposeFolder, _ lock: inout ComposeLock
    ) throws(ComposeError) {
        guard let chosen = ResolvedPackages(at: folder.resolved) else {
            throw ComposeError(
                "\(folder.resolved) is not a file of pins that this version knows, so the lock cannot "
                    + "have them; remove it, and build with Swift 6.3")
        }
        // The rest of the app may need packages that this part does not.
        let kept = only.isEmpty ? [] : lock.packages.pins.filter { chosen[$0.name] == nil }
        let packages = ResolvedPackages(chosen.pins + kept)
        guard packages != lock.packages else { return }
        for pin in packages.pins {
            guard let before = lock.packages[pin.name], before.words != pin.words else { continue }
            progress.note("\(pin.name): the pin moves from \(before.words) to \(pin.words)")
        }
        lock.packages = packages
        try ComposeError.files { () throws(FileError) in
            try writeFile(lock.text, to: request.lockPath)
        }
    }

    /// Lets the new program check the slatefile, and puts it in the place of the one before, with the
    /// resources of its packages beside it.
    func take(
        _ build: ComposeBuild, as program: String, in folder: ComposeFolder,
        _ children: ComposeChildren
    ) throws(ComposeError) {
        func unfinished(_ name: String) -> String {
            "\(folder.binaries)/\(ComposeFolder.unfinished)\(name)"
        }
        let new = unfinished(plan.program)
        let resources = try ComposeError.files { () throws(FileError) in
            try copyFile(build.program, to: new, mode: 0o755)
            let names = try build.resources()
            for name in names {
                try removeTree(unfinished(name))
                try copyTree("\(build.products)/\(name)", to: unfinished(name))
            }
            return names
        }
        var lines: [String] = []
        let exit = try children.run(
            [new, "check", CurrentProcess.absolute(request.path)], environment
        ) { _, line in
            if lines.count < 200 { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        guard exit == .code(0) else {
            throw ComposeError(
                "the new program does not accept \(request.path); "
                    + (fileExists(program)
                        ? "\(program) stays as it was" : "\(program) was not created")
                    + lines.map { "\n    \(excerpt($0, limit: 500))" as TerminalText }.joined(),
                .invalidSlatefile)
        }
        try ComposeError.files { () throws(FileError) in
            for name in resources {
                try replaceFolder("\(folder.binaries)/\(name)", by: unfinished(name))
            }
            try renameFile(new, to: program)
        }
    }
}
