extension App {
    /// Provides the services of a new module that have a façade, wherever the module runs.
    func provideFacades(of module: any Module, in record: ModuleRecord, _ context: ModuleContext) {
        let type = module is IsolatedModule ? record.entry.type : Swift.type(of: module)
        guard let provider = type as? any ServiceProvider.Type else { return }
        for facade in provider.facades { facade.provide(through: services, for: context) }
    }
}
