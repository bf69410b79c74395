extension ModuleLayout {
    /// Returns the layout of a class and its tests, in a target of the package in the folder; where there is
    /// no package, in a new one that is a host of its own.
    ///
    /// - Parameters:
    ///   - names: The names of the module.
    ///   - app: The folder of its app.
    ///   - target: The target; nil for `App`.
    ///   - package: The folder of the package ModuleHost, for a new one; nil for the one in which this
    ///     program was built.
    /// - Returns: The layout.
    /// - Throws: ``NewModuleError``.
    static func swift(
        _ names: ModuleNames, in app: AppFolder, target: String?, package: String?
    ) throws(NewModuleError) -> ModuleLayout {
        guard !["RoutedModule", "ConfiguredModule"].contains(names.type) else {
            throw .reserved(names.type)
        }
        let target = target ?? "App"
        let words = ["__LABEL__": names.label, "__CLASS__": names.type, "__TARGET__": target]
        let module = filled(PackageResources.Module_swift_template, words)
        let tests = filled(PackageResources.ModuleTests_swift_template, words)
        var layout = ModuleLayout(
            files: [
                ("Sources/\(target)/\(names.type).swift", module),
                ("Tests/\(target)Tests/\(names.type)Tests.swift", tests),
            ],
            implementation: ("entry", "\"\(target).\(names.type)\""),
            test: "swift test", run: "swift run")
        if !NewFiles.isTaken(app.path(of: manifest)) {
            try layout.addPackage(of: target, in: app, moduleHost: folderOfModuleHost(package))
        } else if package != nil {
            throw .surplusPackage(app.path(of: manifest))
        } else {
            try layout.fit(intoPackageWith: target, in: app)
        }
        return layout
    }

    private static let manifest = "Package.swift"

    private mutating func addPackage(of target: String, in app: AppFolder, moduleHost: String) {
        let literal = moduleHost.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let words = ["__TARGET__": target, "__PACKAGE__": literal]
        let package = Self.filled(PackageResources.Package_swift_template, words)
        let main = Self.filled(PackageResources.main_swift_template, words)
        files = [(Self.manifest, package), ("Sources/\(target)/main.swift", main)] + files
        if !app.option.isEmpty { run += " \(target) \(shellQuoted(app.slatefileName))" }
    }

    private mutating func fit(
        intoPackageWith target: String, in app: AppFolder
    ) throws(NewModuleError) {
        let sources = app.path(of: "Sources/\(target)")
        guard NewFiles.isTaken(sources) else {
            throw .noTarget(app.path(of: Self.manifest), sources)
        }
        if NewFiles.isTaken("\(sources)/main.swift") {
            run += " \(target)"
        } else {
            orElse = "  # and the name of the host, where the package has several programs"
        }
        if !NewFiles.isTaken(app.path(of: "Tests/\(target)Tests")) {
            remark = """
                to add to the targets of \(app.path(of: Self.manifest)):
                    .testTarget(name: "\(target)Tests", dependencies: ["\(target)"]),
                """
        }
    }

    /// Returns the folder of the package ModuleHost, absolute.
    private static func folderOfModuleHost(_ said: String?) throws(NewModuleError) -> String {
        let candidates = said.map { [CurrentProcess.absolute($0)] } ?? foldersAboveProgram()
        let folder = candidates.first {
            fileExists("\($0)/\(manifest)") && fileExists("\($0)/Sources/ModuleHost")
        }
        guard let folder else { throw .noPackage(said) }
        return folder
    }
}
