import AppService

/// A module that declares the services that it provides, so that `hostd check` can check them.
///
/// ```swift
/// public final class AccountsModule: Module, ServiceProvider {
///     public static var services: [Any.Type] { [(any Accounts).self] }
///
///     public init(context: ModuleContext) throws {
///         try context.services.register((any Accounts).self) { StoredAccounts() }
///     }
/// }
/// ```
///
/// The declaration registers nothing: `init` still does that, except for a service with a façade. A module that
/// declares a service without one cannot have a process of its own, and no other module of the slatefile can
/// declare the same: both are errors before anything runs. With `"isolation": "auto"` such a module stays in
/// the host.
public protocol ServiceProvider: Module, SendableMetatype {
    /// The protocols that the module registers with its ``ModuleContext/services``, as `(any Accounts).self`.
    static var services: [Any.Type] { get }

    /// The façades of those services that can be used across processes; empty by default. The host provides
    /// these services, and `init` does not register them.
    static var facades: [any ServiceFacade.Type] { get }
}

extension ServiceProvider {
    /// No façade.
    public static var facades: [any ServiceFacade.Type] { [] }
}

extension Slatefile.Module {
    /// Returns whether the class of the module declares that its instances provide a service.
    func declares(_ service: ObjectIdentifier) -> Bool {
        (type as? any ServiceProvider.Type)?.services
            .contains { ObjectIdentifier($0) == service } == true
    }
}

/// The services that the modules of a slatefile declare, without creating a module.
struct ServiceProviders {
    /// The module that was the first to declare each; nil for one without a valid id.
    private var modules: [ObjectIdentifier: ModuleID?] = [:]
    /// Their names.
    private(set) var names: [String] = []

    /// Returns whether a module declares the service.
    func declares(_ service: Any.Type) -> Bool { modules[ObjectIdentifier(service)] != nil }

    /// Checks whether a module can provide the services that its class declares, beside those of modules that
    /// were checked before.
    mutating func check(_ type: any ServiceProvider.Type, _ use: EntryUse) -> [ServiceError] {
        let services = type.services
        if use.isolation == .process, let obstacle = type.isolationObstacle {
            return [.isolatedProvider(use.entry, because: obstacle)]
        }
        var diagnostics: [ServiceError] = []
        let actions = (type as? any RoutedModule.Type)?.actions ?? []
        for facade in type.facades {
            for action in facade.actions where !actions.contains(action) {
                diagnostics.append(
                    .facade(
                        "\(facade)", action: action, of: use.entry,
                        nearest: nearestName(to: action, in: actions)))
            }
        }
        for service in services {
            let key = ObjectIdentifier(service)
            if let first = modules[key] {
                diagnostics.append(.duplicate("\(service)", first: first))
            } else {
                modules[key] = .some(use.module)
                names.append("\(service)")
            }
        }
        return diagnostics
    }
}
