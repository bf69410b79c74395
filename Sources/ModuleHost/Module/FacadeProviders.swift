extension Slatefile.FacadeProvider {
    /// The façades of the module; empty where the running binary lacks the class.
    var facades: [any ServiceFacade.Type] {
        let type = try? EntryType(entry, search: .none).type
        return (type as? any ServiceProvider.Type)?.facades ?? []
    }
}

/// The services that the enabled modules of a slatefile declare: which of them cross processes, and by whose façade.
struct FacadeProviders {
    private var providers: [ObjectIdentifier: Slatefile.FacadeProvider] = [:]
    /// The reasons why the other services do not cross.
    private var obstacles: [ObjectIdentifier: String] = [:]

    /// - Cost: One look at the class of each module.
    init(of slatefile: Slatefile) {
        for module in slatefile.modules where module.isEnabled {
            guard case .entry(let entry) = module.implementation,
                let type = module.type as? any ServiceProvider.Type
            else { continue }
            for service in type.services {
                let key = ObjectIdentifier(service)
                if let obstacle = type.obstacle(toCrossing: service) {
                    obstacles[key] = obstacles[key] ?? obstacle
                } else if providers[key] == nil {
                    providers[key] = Slatefile.FacadeProvider(module: module.id, entry: entry)
                }
            }
        }
    }

    /// Returns the providers of the services that a class uses, each once, in the order of its services.
    func providers(for user: any ServiceUser.Type) -> [Slatefile.FacadeProvider] {
        var named: Set<Slatefile.FacadeProvider> = []
        return user.usedServices.compactMap { providers[ObjectIdentifier($0)] }
            .filter { named.insert($0).inserted }
    }

    /// Returns the reason why the modules of a class cannot have a process of their own, where that is a service
    /// that they use; nil where there is none.
    func obstacle(to user: any ServiceUser.Type) -> String? {
        for service in user.usedServices {
            guard let obstacle = obstacles[ObjectIdentifier(service)] else { continue }
            return "it uses '\(service)', which does not cross processes: \(obstacle)"
        }
        return nil
    }
}

extension Slatefile {
    /// Returns the slatefile with the providers of the services that its modules use from a process of their own.
    func namingFacades() -> Slatefile {
        var providers: FacadeProviders?
        var slatefile = self
        for (index, module) in modules.enumerated() where module.isEnabled {
            guard module.isolation == .process, let user = module.type as? any ServiceUser.Type
            else {
                continue
            }
            let all = providers ?? FacadeProviders(of: self)
            providers = all
            slatefile.modules[index].facadeProviders = all.providers(for: user)
        }
        return slatefile
    }
}
