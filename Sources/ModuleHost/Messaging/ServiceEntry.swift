/// A service of any type.
class AnyService {
    let name: String
    let key: ObjectIdentifier
    let slot: ModuleSlot
    /// The shared service, a ``MadeService``, once it is created.
    final var made: AnyObject?
    /// Whether it was ever created, also for one caller alone.
    final var wasMade = false

    init(_ name: String, _ key: ObjectIdentifier, of slot: ModuleSlot) {
        self.name = name
        self.key = key
        self.slot = slot
    }
}

/// A shared service: an object, since an optional of a protocol's type is slow to pass on.
@usableFromInline
final class MadeService<Service> {
    @usableFromInline let value: Service

    init(_ value: Service) { self.value = value }
}

/// A service, and how it is created.
final class ServiceEntry<Service>: AnyService {
    let lifetime: ServiceRegistry.Lifetime
    let make: () throws -> Service

    init(
        _ name: String, of slot: ModuleSlot, lifetime: ServiceRegistry.Lifetime,
        make: @escaping () throws -> Service
    ) {
        self.lifetime = lifetime
        self.make = make
        super.init(name, ObjectIdentifier(Service.self), of: slot)
    }
}
