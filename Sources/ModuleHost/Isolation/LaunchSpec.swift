import AppService

/// The launch settings and limits of a module's process.
struct LaunchSpec: Sendable {
    /// The program and its arguments.
    let command: [String]
    /// Its working folder; nil for the host's.
    let folder: String?
    /// All of its variables.
    let environment: [String: String]
    var limits: ModuleProcess.Limits
    let restarts: RestartPolicy.Limits
    /// The processes of the host, to which this one belongs while it runs.
    let processes: ModuleProcesses
    /// The file that the process runs, as it was before the first start; nil where it is not known.
    let program: ProgramFile?
    /// The modules whose services it uses; none for a program.
    let facadeProviders: [Slatefile.FacadeProvider]
    /// The folder in which Python keeps compiled modules for the host; nil where that is the program's own matter.
    let pythonCache: String?

    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - names: The variables of the host that the slatefile grants it.
    ///   - settings: The settings that all processes share.
    ///   - module: The module's id, by which the next host finds the process if this one dies.
    init(
        _ command: [String], naming names: [String], in settings: ProcessSettings,
        for module: ModuleID? = nil
    ) {
        self.command = command
        folder = settings.folder
        var variables = settings.environment(naming: names, for: module)
        let pythonCache = variables[Self.pythonCacheVariable] == nil ? settings.pythonCache : nil
        if let pythonCache { variables[Self.pythonCacheVariable] = pythonCache }
        self.pythonCache = pythonCache
        environment = variables
        limits = settings.limits
        restarts = settings.restarts
        processes = settings.running
        facadeProviders = []
        program = Self.program(of: command, in: settings.folder)
    }

    /// Returns the file that a command runs: the first of its words that names one, but for a program of the `PATH`.
    private static func program(of command: [String], in folder: String?) -> ProgramFile? {
        for (index, word) in command.enumerated() where index > 0 || word.contains("/") {
            let path = word.hasPrefix("/") || folder == nil ? word : "\(folder ?? "")/\(word)"
            if let file = ProgramFile(CurrentProcess.absolute(path)) { return file }
        }
        return nil
    }

    /// Ends a process of the module.
    ///
    /// In a stop, all processes end together, and the stop waits for them. While the app runs, this waits for the time for a
    /// step of the stop and two seconds at most, and the other modules go on meanwhile.
    func end(_ process: ModuleProcess, of module: ModuleID, _ services: HostServices) {
        guard !services.isStopping else { return processes.ends.ask(process, of: module) }
        services.yieldLane(again: true)
        wait(forEndOf: process, of: module, services)
    }

    /// Asks a process to end, and waits for that.
    func wait(forEndOf process: ModuleProcess, of module: ModuleID, _ services: HostServices) {
        processes.end(
            process, of: module,
            ProcessEndState.Times(
                asked: services.deadlines.stop, terminating: limits.terminating))
    }

    /// The file that the next process runs.
    var currentProgram: ProgramFile? {
        isSwift ? program : Self.program(of: command, in: folder)
    }

    /// Whether the process is that of a Swift module.
    var isSwift: Bool { environment[Self.entryVariable] != nil }

    /// The variable that tells Python where to write compiled modules.
    private static let pythonCacheVariable = "PYTHONPYCACHEPREFIX"

    /// The variable that makes a host's binary the process of a module, and names the module's entry.
    static let entryVariable = "MODULEHOST_ENTRY"

    /// Finds the entry of the module for which a host has started this process.
    ///
    /// - Parameter environment: The environment of the process. The variable counts only beside the mark of a host:
    ///   it may be left from a module's process, in a shell for example.
    /// - Returns: The entry; nil if no host has started the process.
    static func entry(in environment: [String: String]) -> String? {
        environment[ProcessMark.variable] == nil ? nil : environment[entryVariable]
    }

    /// Creates the launch settings of a Swift module: this binary, which becomes the module's process.
    ///
    /// - Parameters:
    ///   - providers: The modules whose services it uses.
    ///   - names: The variables of the host that the slatefile grants it.
    ///   - settings: The settings that all processes share.
    ///   - module: The module's id, by which the next host finds the process if this one dies.
    init(
        entry: String, using providers: [Slatefile.FacadeProvider] = [], naming names: [String],
        in settings: ProcessSettings, for module: ModuleID? = nil
    ) {
        // Not by its name: another file may have it by now.
        command = [settings.binary ?? "/proc/self/exe"]
        folder = settings.folder
        var variables = settings.environment(naming: names, for: module)
        variables[Self.entryVariable] = entry
        // A host without a state directory has no mark by which another host could find its processes.
        if variables[ProcessMark.variable] == nil { variables[ProcessMark.variable] = "" }
        environment = variables
        limits = settings.limits
        restarts = settings.restarts
        processes = settings.running
        (facadeProviders, pythonCache) = (providers, nil)
        program = settings.binary.map { ProgramFile($0) } ?? RunningProgram.file
    }
}

/// The settings that the processes of a host's modules share.
package struct ProcessSettings: Sendable {
    /// Their working folder; nil for the host's.
    package var folder: String?
    /// The host's variables.
    package var environment: [String: String]

    /// The binary for Swift modules; nil for that of this process.
    package var binary: String?
    /// The mark by which the next host finds the processes if this one dies; nil for none.
    var mark: ProcessMark?
    /// The folder for the compiled modules of Python, which would otherwise be written beside its programs; nil for
    /// none.
    var pythonCache: String?
    var limits = ModuleProcess.Limits()
    var restarts = RestartPolicy.Limits()
    /// The processes that run; each host sets its own.
    var running = ModuleProcesses(time: SystemTimeSource.shared)

    /// The variables that every process gets, where the host has them; in addition, all that begin with
    /// `LC_`.
    private static let common: Set<String> = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"]

    package init(
        folder: String? = nil, environment: [String: String] = CurrentProcess.environment()
    ) {
        self.folder = folder
        self.environment = environment
    }

    /// Returns the environment of a process.
    ///
    /// - Parameter names: The variables that the slatefile names.
    fileprivate func environment(
        naming names: [String], for module: ModuleID?
    ) -> [String: String] {
        let named = Set(names)
        var variables = environment.filter { name, _ in
            Self.common.contains(name) || name.hasPrefix("LC_") || named.contains(name)
        }
        // Not the mark that the host may have itself, where a module of another host has started it.
        variables[ProcessMark.variable] = mark?.text(for: module)
        return variables
    }
}
