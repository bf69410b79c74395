import AppService

/// How a module's process is started, and how long it may take.
struct IsolationTerms: Sendable {
    /// The program and its arguments.
    let command: [String]
    /// Where it runs; nil for where the host does.
    let folder: String?
    /// All of its variables.
    let environment: [String: String]
    let limits: ModuleProcess.Limits
    let restarts: RestartPolicy.Limits

    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - names: The variables of the host that the slatefile gives it.
    ///   - settings: What all processes have in common.
    init(_ command: [String], naming names: [String], in settings: ProcessSettings) {
        self.command = command
        folder = settings.folder
        environment = settings.environment(naming: names)
        limits = settings.limits
        restarts = settings.restarts
    }

    /// The terms of a Swift module: this very binary, which turns into the module's process.
    ///
    /// - Parameters:
    ///   - entry: The module's class.
    ///   - names: The variables of the host that the slatefile gives it.
    ///   - settings: What all processes have in common.
    init(entry: String, naming names: [String], in settings: ProcessSettings) {
        // Not by its name: that may be another's by now.
        command = [settings.binary ?? "/proc/\(CurrentProcess.id)/exe"]
        folder = settings.folder
        var variables = settings.environment(naming: names)
        variables[ModuleChild.variable] = entry
        environment = variables
        limits = settings.limits
        restarts = settings.restarts
    }
}

/// What the processes of a host's modules have in common.
package struct ProcessSettings: Sendable {
    /// Where they run; nil for where the host does.
    package var folder: String?
    /// The host's variables.
    package var environment: [String: String]

    /// What runs Swift modules; nil for the binary of this process.
    package var binary: String?
    var limits = ModuleProcess.Limits()
    var restarts = RestartPolicy.Limits()

    /// The variables that every process gets, where the host has them; all that begin with `LC_` beside.
    private static let common: Set<String> = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"]

    package init(
        folder: String? = nil, environment: [String: String] = CurrentProcess.environment()
    ) {
        self.folder = folder
        self.environment = environment
    }

    /// What a process is given of the host's variables.
    ///
    /// - Parameter names: Those that the slatefile names.
    /// - Returns: Those and the common ones, with their values, as far as the host has them.
    fileprivate func environment(naming names: [String]) -> [String: String] {
        let named = Set(names)
        return environment.filter { name, _ in
            Self.common.contains(name) || name.hasPrefix("LC_") || named.contains(name)
        }
    }
}
