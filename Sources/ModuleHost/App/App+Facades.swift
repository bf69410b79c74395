extension App {
    /// Provides the services of a new module that have a façade, wherever the module runs.
    func provideFacades(of module: any Module, in record: ModuleRecord, _ context: ModuleContext) {
        let type = module is IsolatedModule ? record.entry.type : Swift.type(of: module)
        guard let provider = type as? any ServiceProvider.Type else { return }
        for facade in provider.facades {
            facade.provide(of: context.id, through: services, for: context)
        }
    }

    /// Provides the services of other modules to the only module of this process, before it is made.
    ///
    /// Of what its class declares that it uses: what else the providers have might change without notice.
    func provideFacades(to record: ModuleRecord, _ context: ModuleContext) {
        guard let user = record.entry.type as? any ServiceUser.Type else { return }
        let used = user.usedServices
        for provider in record.entry.facadeProviders {
            for facade in provider.facades where used.contains(where: facade.isOf) {
                facade.provide(of: provider.module, through: services, for: context)
            }
        }
    }
}
