/// The package ModuleHost on this machine.
enum ModuleHostPackage {
    /// Returns the folder of the package, absolute.
    ///
    /// - Parameter folder: The folder that a person named; nil for the package of this program: the one in
    ///   whose folder it was built, or the one that its own package has a link to or a checkout of.
    /// - Returns: The folder; nil where the package is not there.
    static func folder(_ folder: String?) -> String? {
        let candidates =
            folder.map { [CurrentProcess.absolute($0)] }
            ?? foldersAboveProgram().flatMap {
                [$0, "\($0)/ModuleHost", "\($0)/modules/ModuleHost"]
            }
        return candidates.first {
            fileExists("\($0)/Package.swift") && fileExists("\($0)/Sources/ModuleHost")
        }
    }
}
