/// Services that are not the same before a reload and after it.
struct ServiceTransition {
    /// The services of modules that are about to be unloaded: all other modules use them until then.
    var leaving = Services()
    let leavingSlots: Set<ObjectIdentifier>
    /// The services of modules that were created for the reload: only these modules use them until then.
    var staged = Services()

    init(leaving slots: [ModuleSlot]) { leavingSlots = Set(slots.map { ObjectIdentifier($0) }) }

    /// Removes the services of a module.
    mutating func takeAll(of slot: ModuleSlot) -> [AnyService] {
        // A module that is unloaded and one that replaces it may provide the same service.
        leaving.takeAll(of: slot) + staged.takeAll(of: slot)
    }

    /// Services by their type and by their module.
    struct Services {
        private var byType: [ObjectIdentifier: AnyService] = [:]
        private var bySlot: [ObjectIdentifier: [AnyService]] = [:]

        subscript(type: ObjectIdentifier) -> AnyService? { byType[type] }

        var all: some Sequence<AnyService> { byType.values }

        mutating func insert(_ service: AnyService) {
            byType[service.key] = service
            bySlot[ObjectIdentifier(service.slot), default: []].append(service)
        }

        /// Removes a service of a module; nil where the module does not provide it.
        mutating func take(_ type: ObjectIdentifier, of slot: ModuleSlot) -> AnyService? {
            guard let service = byType[type], service.slot === slot else { return nil }
            byType[type] = nil
            bySlot[ObjectIdentifier(slot)]?.removeAll { $0 === service }
            return service
        }

        /// Removes the services of a module.
        mutating func takeAll(of slot: ModuleSlot) -> [AnyService] {
            let services = bySlot.removeValue(forKey: ObjectIdentifier(slot)) ?? []
            for service in services { byType[service.key] = nil }
            return services
        }
    }
}
