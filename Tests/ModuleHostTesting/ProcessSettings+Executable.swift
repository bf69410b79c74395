import ModuleHostCore

extension ProcessSettings {
    /// The settings of the processes of a test's modules.
    ///
    /// - Throws: ``TestHostError`` where a Swift module needs an executable and none is named, or there is no
    ///   such executable: the test's own process would run all tests once more.
    init(_ settings: TestHost.Settings, for slatefile: Slatefile) throws {
        self.init(folder: settings.folder?.path)
        if let name = settings.executable {
            let path = name.contains("/") ? name : builtProgram(name)
            guard isProgram(path) else { throw TestHostError.executableMissing(path) }
            binary = path
        } else if let module = slatefile.modules.first(where: \.needsExecutable) {
            throw TestHostError.noExecutable(module.id.text)
        }
    }
}

extension Slatefile.Module {
    fileprivate var needsExecutable: Bool {
        guard case .entry = implementation else { return false }
        return isEnabled && isolation == .process
    }
}
