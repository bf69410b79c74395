extension Slatefile {
    /// Returns the warnings about a valid slatefile that will not run as it should on this machine, a line
    /// each.
    ///
    /// - Parameters:
    ///   - path: The slatefile's path: commands are relative to its folder.
    ///   - environment: The environment of the host.
    /// - Returns: The warnings, in the order of the modules; then those of signals.
    package func warnings(at path: String, environment: [String: String]) -> [String] {
        let settings = ProcessSettings(
            folder: parentFolder(of: path) ?? ".", environment: environment)
        var warnings: [String] = []
        for module in modules where module.isEnabled {
            guard case .command(let words) = module.implementation, let name = words.first else {
                continue
            }
            let spec = LaunchSpec(words, naming: module.environment, in: settings)
            guard
                let problem = lookForProgram(
                    name, in: spec.folder, path: spec.environment["PATH"])
            else { continue }
            let error = IsolationError.noProgram(name, problem, folder: spec.folder)
            warnings.append("\(module.id): \(error)")
        }
        if case .event(.terminate, payload: _)? = signals[.terminate] { return warnings }
        return warnings + [
            "TERM does not stop the app: 'kill' and service managers send it for that"
        ]
    }
}
