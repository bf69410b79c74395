/// The new settings of each module in a reload of the slatefile.
struct ConfigurationReload: Sendable {
    var appConfig: JSONValue?
    var isAppConfigChanged: Bool
    /// The settings of the modules that have any.
    var configs: [ModuleID: JSONValue] = [:]
    /// The modules whose settings changed.
    var changed: Set<ModuleID> = []
    /// The modules that are not to be notified: they were created with these settings.
    var created: Set<ModuleID> = []
    /// The settings of the only module of a process, under any id.
    private var only: (config: JSONValue?, isChanged: Bool)?

    /// Creates the settings of one module, the only one of its process.
    init(appConfig: JSONValue?, isAppConfigChanged: Bool, own: JSONValue?, isChanged: Bool) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        only = (own, isChanged)
    }

    init(appConfig: JSONValue?, isAppConfigChanged: Bool, configs: [ModuleID: JSONValue]) {
        self.appConfig = appConfig
        self.isAppConfigChanged = isAppConfigChanged
        self.configs = configs
    }

    /// The modules whose settings changed, their own or the app's; nil for all.
    var changedModules: Set<ModuleID>? { isAppConfigChanged || only != nil ? nil : changed }

    /// Returns the change for a module; nil if it is not to be notified.
    func change(for id: ModuleID?) -> ConfigurationChange? {
        let known = id.flatMap { created.contains($0) ? nil : (configs[$0], changed.contains($0)) }
        guard let own = only ?? known else { return nil }
        return ConfigurationChange(
            config: own.config, appConfig: appConfig,
            isChanged: isAppConfigChanged || own.isChanged)
    }
}
