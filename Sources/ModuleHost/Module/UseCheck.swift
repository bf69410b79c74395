import AppService

/// A check of the services and routes that modules declare they use, against all modules of a slatefile.
///
/// For one reading of a slatefile: what several modules are checked against is created at the first need, and kept.
package final class UseCheck {
    /// The services that enabled modules declare.
    var services = ServiceProviders()
    /// Whether the class of an entry is missing: what it declares is not known then.
    var lacksClasses = false
    /// The number of services and modules that no entry provides: only for the first hundred, a similar name is
    /// searched.
    private var unknown = 0
    /// The disabled module that was the first to declare each service.
    private var disabledProviders: [ObjectIdentifier: ModuleID]?
    private var table: Result<RouteTable, RouteTableError>?
    private var modules: [String: Slatefile.Module]?
    /// The actions of the modules that uses name, by their ids.
    private var actions: [ModuleID: [String]] = [:]
    /// The ids of the enabled modules that are commands, in lower case.
    private var commands: Set<String>?
    private var providers: FacadeProviders?

    /// Returns the uses of a class that the slatefile does not satisfy.
    ///
    /// - Parameter slatefile: The slatefile, with all its modules.
    /// - Returns: A diagnostic for each.
    func check(
        _ type: any Module.Type, _ use: EntryUse, in slatefile: Slatefile
    ) -> [UseDiagnostic] {
        guard !lacksClasses else { return [] }
        var diagnostics: [UseDiagnostic] = []
        if let user = type as? any ServiceUser.Type {
            diagnostics += check(user.usedServices, use, in: slatefile)
            if use.isolation == .process {
                let providers = providers ?? FacadeProviders(of: slatefile)
                self.providers = providers
                if let obstacle = providers.obstacle(to: user) {
                    diagnostics.append(.isolated(use.entry, because: obstacle))
                }
            }
        }
        if let user = type as? any RouteUser.Type {
            for route in user.usedRoutes {
                switch route.target {
                case .action(let action, of: let module):
                    diagnostics += check(action, of: module, use, in: slatefile)
                case .url(let url): diagnostics += check(url, use, in: slatefile)
                }
            }
        }
        return diagnostics
    }

    /// Returns a module that is disabled beside the slatefile, and an enabled one that declares that it uses a service
    /// or an action of the former; nil if there is none.
    static func disabledUse(in slatefile: Slatefile) -> (module: ModuleID, user: ModuleID)? {
        let uses = UseCheck()
        var users: [(any Module.Type, EntryUse)] = []
        for module in slatefile.modules where module.isEnabled {
            guard case .entry(let entry) = module.implementation else { continue }
            guard let type = module.type else { return nil }
            let use = EntryUse(
                module: module.id, entry: entry, isMain: module.isMain, config: nil, appConfig: nil)
            if let provider = type as? any ServiceProvider.Type {
                _ = uses.services.check(provider, use)
            }
            users.append((type, use))
        }
        let disabled = slatefile.modules.lazy.filter(\.isDisabled).map(\.id)
        for (type, use) in users {
            for diagnostic in uses.check(type, use, in: slatefile) {
                let name = diagnostic.disabledModule
                guard let module = disabled.first(where: { $0.text == name }) else { continue }
                if let user = use.module { return (module, user) }
            }
        }
        return nil
    }

    // MARK: Services

    private func check(
        _ used: [Any.Type], _ use: EntryUse, in slatefile: Slatefile
    ) -> [UseDiagnostic] {
        used.compactMap { service in
            guard !services.declares(service) else { return nil }
            let disabled = disabledProviders ?? Self.disabledProviders(in: slatefile)
            disabledProviders = disabled
            let name = "\(service)"
            return .service(
                name, of: use.entry, disabled: disabled[ObjectIdentifier(service)],
                nearest: nearest(to: name, in: services.names))
        }
    }

    private static func disabledProviders(in slatefile: Slatefile) -> [ObjectIdentifier: ModuleID] {
        let pairs = slatefile.modules.lazy.filter { !$0.isEnabled }.flatMap { module in
            ((module.type as? any ServiceProvider.Type)?.services ?? []).map {
                (ObjectIdentifier($0), module.id)
            }
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    private func nearest(to name: String, in names: some Sequence<String>) -> String? {
        unknown += 1
        return unknown <= 100 ? nearestName(to: name, in: names) : nil
    }

    // MARK: Routes

    private func check(
        _ action: String, of id: String, _ use: EntryUse, in slatefile: Slatefile
    ) -> [UseDiagnostic] {
        let modules =
            modules
            ?? Dictionary(
                slatefile.modules.map { ($0.id.text, $0) }, uniquingKeysWith: { first, _ in first })
        self.modules = modules
        guard let module = modules[id] else {
            let nearest = nearest(to: id, in: slatefile.modules.lazy.map(\.id.text))
            return [.module(id, action: action, of: use.entry, nearest: nearest)]
        }
        guard module.isEnabled else { return [.disabled(id, action: action, of: use.entry)] }
        guard case .entry = module.implementation else { return [] }
        let names =
            actions[module.id] ?? (module.type as? any RoutedModule.Type)?.actions ?? []
        actions[module.id] = names
        guard !names.contains(action) else { return [] }
        let nearest = nearestName(to: action, in: names)
        return [.route(.noAction(action, of: id, nearest: nearest), of: use.entry)]
    }

    private func check(
        _ text: String, _ use: EntryUse, in slatefile: Slatefile
    ) -> [UseDiagnostic] {
        let table = table ?? Self.table(of: slatefile)
        self.table = table
        do throws(RouteError) {
            let url: RouteURL
            do throws(RouteURLError) { url = try RouteURL(text) } catch { throw .malformed(error) }
            // Routes that contradict each other have diagnostics of their own.
            guard let table = try? table.get(), try table.match(url) == nil else { return [] }
            guard try !mayBeOfCommand(url, table, slatefile) else { return [] }
            return [.route(table.notFound(url) { _ in true }, of: use.entry)]
        } catch {
            return [.route(error, of: use.entry)]
        }
    }

    /// Returns whether a program may answer a URL: it declares its routes when it runs, and is offered each URL that
    /// names no module.
    private func mayBeOfCommand(
        _ url: RouteURL, _ table: RouteTable, _ slatefile: Slatefile
    ) throws(RouteError) -> Bool {
        let rewrites = table.contents.rewrites
        let url = rewrites.isEmpty ? url : try rewrites.apply(to: url)
        let commands = commands ?? Self.commands(in: slatefile)
        self.commands = commands
        guard table.storage.isModuleNamed(by: url) else { return !commands.isEmpty }
        return url.segments.first.map { commands.contains($0.lowercased()) } ?? false
    }

    private static func commands(in slatefile: Slatefile) -> Set<String> {
        let commands = slatefile.modules.lazy.filter { module in
            guard module.isEnabled, case .command = module.implementation else { return false }
            return true
        }
        return Set(commands.map { $0.id.text.lowercased() })
    }

    /// Creates the table of the routes of all classes, those of modules in a process of their own included.
    package static func table(of slatefile: Slatefile) -> Result<RouteTable, RouteTableError> {
        var isolated: [ModuleID: [AnyRoute]] = [:]
        for module in slatefile.modules where module.isEnabled && module.isolation == .process {
            if let routed = module.type as? any RoutedModule.Type {
                isolated[module.id] = try? routed.erasedRoutes()
            }
        }
        do throws(RouteTableError) {
            return .success(try RouteTable(of: slatefile) { isolated[$0] })
        } catch {
            return .failure(error)
        }
    }
}

extension Slatefile.Module {
    /// The class of the module in the running binary; nil for a command, and for an entry that is not in it.
    package var type: (any ModuleHostCore.Module.Type)? {
        guard case .entry(let name) = implementation else { return nil }
        return try? EntryType(name, search: .none).type
    }
}

extension RoutedModule {
    /// The actions of the module's routes.
    static var actions: [String] { routes.map(\.action) }
}
