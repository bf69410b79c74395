/// The new settings of each module in a reload of the slatefile.
struct ConfigurationReload: Sendable {
    var appConfig: JSONValue?
    var isAppConfigChanged: Bool
    /// The configuration of each module, and whether it changed.
    ///
    /// A module that was created with these settings is not among them.
    var modules: [ModuleID: (config: JSONValue?, isChanged: Bool)]
    /// The settings of the only module of a process, under any id.
    private var only: (config: JSONValue?, isChanged: Bool)?

    /// Creates the settings of one module, the only one of its process.
    init(appConfig: JSONValue?, isAppConfigChanged: Bool, own: JSONValue?, isChanged: Bool) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        modules = [:]
        only = (own, isChanged)
    }

    init(
        appConfig: JSONValue?, isAppConfigChanged: Bool,
        modules: [ModuleID: (config: JSONValue?, isChanged: Bool)]
    ) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        self.modules = modules
    }

    /// Returns the change for a module; nil if it is not to be notified.
    func change(for id: ModuleID?) -> ConfigurationChange? {
        guard let own = only ?? id.flatMap({ modules[$0] }) else { return nil }
        return ConfigurationChange(
            config: own.config, appConfig: appConfig,
            isChanged: isAppConfigChanged || own.isChanged)
    }
}
