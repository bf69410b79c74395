/// The reason why a module was not created, with the remedy.
struct NewModuleError: Error, Hashable {
    let text: TerminalText
    let exitCode: ExitCode

    static func invalidName(_ error: ModuleNames.NameError) -> NewModuleError {
        NewModuleError(text: "\(error.message)", exitCode: .usage)
    }

    static func invalidPart(_ option: String, _ reason: String) -> NewModuleError {
        NewModuleError(text: "\(option): \(excerpt(reason, limit: 500))", exitCode: .usage)
    }

    static func invalidApp(_ name: String, target: String?) -> NewModuleError {
        let name = excerpt(name, limit: 100)
        guard let target else {
            return NewModuleError(
                text: """
                    '\(name)' is not the name of an app: letters, digits and hyphens are allowed, and a \
                    letter comes first
                    """,
                exitCode: .usage)
        }
        return NewModuleError(
            text: """
                an app cannot be called '\(name)': its target would be '\(target)', as a target that it uses; \
                give it another name
                """,
            exitCode: .usage)
    }

    static func taken(_ paths: [String]) -> NewModuleError {
        NewModuleError(
            text: """
                nothing was made, for there \(paths.count == 1 ? "is" : "are") already
                \(paths.map { path -> TerminalText in "  \(path)\n" }.joined())\
                give it another name, or move \(paths.count == 1 ? "it" : "them") away
                """,
            exitCode: .cannotCreate)
    }

    static func failed(_ error: FileError) -> NewModuleError {
        NewModuleError(text: "\(error); nothing was made", exitCode: .cannotCreate)
    }

    static func listed(_ id: ModuleID, in slatefile: String) -> NewModuleError {
        NewModuleError(
            text: "\(slatefile) has a module '\(id)' already; nothing was made",
            exitCode: .cannotCreate)
    }

    static func unreadable(_ error: FileReadError) -> NewModuleError {
        NewModuleError(text: "\(error); nothing was made", exitCode: .noInput)
    }

    static func invalid(
        _ slatefile: String, _ reason: String, program: String
    ) -> NewModuleError {
        NewModuleError(
            text: """
                \(slatefile): \(reason); nothing was made
                see '\(program) check \(slatefile)'
                """,
            exitCode: .invalidSlatefile)
    }

    static func noTarget(_ manifest: String, _ folder: String) -> NewModuleError {
        NewModuleError(
            text: """
                there is a \(manifest), and no \(folder): say by --target which target of the package \
                gets the module
                """,
            exitCode: .usage)
    }

    static func surplusPackage(_ manifest: String) -> NewModuleError {
        NewModuleError(
            text: "--package is for a new package, and there is a \(manifest)",
            exitCode: .usage)
    }

    /// Creates the error for a missing package, in a folder that was named, or (nil) searched.
    static func noPackage(_ folder: String?) -> NewModuleError {
        let reason = folder.map { "the package ModuleHost is not in '\($0)'" }
        return NewModuleError(
            text: """
                \(reason ?? "this program is not where it was built"); name the package ModuleHost by \
                --package SOURCE, a folder or a URL
                """,
            exitCode: .noInput)
    }

    static func reserved(_ type: String) -> NewModuleError {
        NewModuleError(
            text: """
                the class would be called \(type), as a protocol of ModuleHost is; give the module \
                another id
                """,
            exitCode: .usage)
    }
}
