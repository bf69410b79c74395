extension ModuleLayout {
    /// Returns the layout of a class and its tests, in a target of the package in the folder; where there is
    /// no package, in a new one that is a host of its own.
    ///
    /// - Parameters:
    ///   - names: The names of the module.
    ///   - app: The folder of its app.
    ///   - parts: The parts of the class; nil for an example with one of each.
    ///   - target: The target; nil for that with the modules of the package's only program, or `App`.
    ///   - newProgram: The name of the program of a new package; nil for that of its target.
    ///   - package: The package ModuleHost, for a new one: a folder or a URL; nil for that of this program.
    /// - Returns: The layout.
    /// - Throws: ``NewModuleError``.
    static func swift(
        _ names: ModuleNames, in app: AppFolder, _ parts: ModuleParts?, target: String?,
        newProgram: String? = nil, package: String?
    ) throws(NewModuleError) -> ModuleLayout {
        guard !["RoutedModule", "ConfiguredModule"].contains(names.type) else {
            throw .reserved(names.type)
        }
        let isNew = !NewFiles.isTaken(app.path(of: manifest))
        let programs = isNew ? [] : programs(of: app)
        let target = target ?? modules(of: programs, in: app)
        let (module, tests) = sources(names, target, parts)
        var layout = ModuleLayout(
            files: [
                ("Sources/\(target)/\(names.type).swift", module),
                ("Tests/\(target)Tests/\(names.type)Tests.swift", tests),
            ],
            implementation: ("entry", "\"\(target).\(names.type)\""),
            test: "swift test", run: "swift run")
        if let parts {
            layout.config = nil
            layout.trials = parts.trials(of: names)
        }
        if isNew {
            try layout.addPackage(
                of: target, program: newProgram ?? target + hostEnding, in: app,
                moduleHost: ModuleHostDependency(package), isLinkWanted: package != nil)
        } else if package != nil {
            throw .surplusPackage(app.path(of: manifest))
        } else {
            try layout.fit(intoPackageWith: target, of: programs, in: app)
        }
        return layout
    }

    private static let manifest = "Package.swift"

    private static func sources(
        _ names: ModuleNames, _ target: String, _ parts: ModuleParts?
    ) -> (module: String, tests: String) {
        if let parts {
            let source = ModuleSource(names: names, target: target, parts: parts)
            return (source.module, source.tests)
        }
        let words = [
            "__ID__": names.id.text, "__LABEL__": names.label, "__CLASS__": names.type,
            "__TARGET__": target,
        ]
        return (
            filledTemplate(PackageResources.Module_swift_template, words),
            filledTemplate(PackageResources.ModuleTests_swift_template, words)
        )
    }

    /// Adds the files of a new package: the modules are a library, which other programs can have, too.
    private mutating func addPackage(
        of target: String, program: String, in app: AppFolder, moduleHost: ModuleHostDependency,
        isLinkWanted: Bool
    ) {
        let host = target + Self.hostEnding
        let words = [
            "__TARGET__": target, "__PROGRAM__": program, "__HOST__": host,
            // Two products of a package cannot have the same name.
            "__LIBRARY__": target == program ? "\(target)Modules" : target,
            "__DEPENDENCY__": moduleHost.declaration, "__PACKAGE__": moduleHost.package,
            "__NOTE__": moduleHost.note(program: program),
        ]
        let package = filledTemplate(PackageResources.Package_swift_template, words)
        let main = filledTemplate(PackageResources.main_swift_template, words)
        files = [(Self.manifest, package), ("Sources/\(host)/main.swift", main)] + files
        extras = [
            (".gitignore", filledTemplate(PackageResources.gitignore_template, [:])),
            ("README.md", filledTemplate(PackageResources.README_md_template, words)),
            (Self.schema, Slatefile.jsonSchema),
        ]
        if case .link(let folder) = moduleHost {
            links = [(ModuleHostDependency.linkName, folder)]
            if !isLinkWanted {
                remark = """
                    \(app.path(of: ModuleHostDependency.linkName)) is a link to \(folder),
                    whose repository is not known: to build the app elsewhere, see \(app.path(of: "README.md"))
                    """
            }
        }
        schema = "./\(Self.schema)"
        run += " \(program)\(app.option)"
        self.program = ".build/debug/\(program)"
    }

    /// The ending of the target with the `main.swift` of a host, behind the name of that with its modules.
    static let hostEnding = "Host"

    /// Returns the target that gets a module: that with the modules of the only program, or the program.
    private static func modules(of programs: [String], in app: AppFolder) -> String {
        guard programs.count == 1 else { return "App" }
        let program = programs[0]
        let modules = String(program.dropLast(hostEnding.count))
        let hasModules =
            program.hasSuffix(hostEnding) && !modules.isEmpty
            && NewFiles.isTaken(app.path(of: "Sources/\(modules)"))
        return hasModules ? modules : program
    }

    private static let schema = "slatefile.schema.json"

    private mutating func fit(
        intoPackageWith target: String, of programs: [String], in app: AppFolder
    ) throws(NewModuleError) {
        let sources = app.path(of: "Sources/\(target)")
        guard NewFiles.isTaken(sources) else {
            throw .noTarget(app.path(of: Self.manifest), sources)
        }
        if programs.count > 1, programs.contains(target) {
            run += " \(target)"
        } else if programs.isEmpty {
            orElse = "  # and the name of the host, where the package has several programs"
        }
        let text = (try? readFile(at: app.path(of: Self.manifest), limit: 1 << 20)) ?? []
        let hasTests = NewFiles.isTaken(app.path(of: "Tests/\(target)Tests"))
        guard
            !hasTests
                || !String(decoding: text, as: UTF8.self).contains(bytesOf: "ModuleHostTesting")
        else { return }
        remark = """
            to add to the targets of \(app.path(of: Self.manifest)):
                .testTarget(
                    name: "\(target)Tests",
                    dependencies: [
                        "\(target)", .product(name: "ModuleHostTesting", package: "ModuleHost"),
                    ]),
            """
    }

    /// Returns the targets of the package that are programs with a `main.swift`.
    private static func programs(of app: AppFolder) -> [String] {
        let folders = (try? namesInFolder(app.path(of: "Sources"))) ?? []
        return folders.filter { NewFiles.isTaken(app.path(of: "Sources/\($0)/main.swift")) }
            .sorted()
    }
}

extension ModuleParts {
    /// Returns commands by which the module is tried out, without the name of the program.
    fileprivate func trials(of names: ModuleNames) -> [String] {
        var trials: [String] = []
        if let route = routes.first {
            let values = route.parameters.map { parameter in
                "\"\(parameter.name)\": \(parameter.example)"
            }
            let parameters = values.isEmpty ? "" : " '{\(values.joined(separator: ", "))}'"
            trials.append("call \(names.id) \(route.name.text)\(parameters)")
        }
        let plain = events.first { !$0.kind.isDurable && !$0.kind.isHostsOwn }
        if let plain, plain.kind != .terminate { trials.append("send \(plain.kind.rawValue)") }
        return trials.isEmpty ? ["modules"] : trials
    }
}
