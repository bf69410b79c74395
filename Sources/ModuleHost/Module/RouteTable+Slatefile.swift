/// The routes of an app as far as its slatefile and the binary declare them, without creating a module.
extension RouteTable {
    /// Creates the table of the routes that the enabled modules list, in the order of the slatefile.
    ///
    /// A command, or a module in a process of its own, has a place in the table but no routes: it declares
    /// them when it runs. The same applies to an entry that is not a module of this binary, which the launch
    /// reports.
    ///
    /// - Parameter slatefile: The app. One that was checked with ``EntryUse/checkAgainstBinary()`` has a
    ///   table.
    /// - Throws: Every error.
    package init(of slatefile: Slatefile) throws(RouteTableError) {
        try self.init(of: slatefile) { _ in nil }
    }

    /// Creates the table of the routes that modules have or, where they are yet to be created, list.
    ///
    /// - Parameters:
    ///   - isolated: Whether modules in processes of their own have the routes that their classes list.
    ///   - isUnmade: Returns whether the module at a place among the enabled ones is not made: it has the routes that
    ///     are known without it.
    ///   - routes: Returns the routes that a module has; nil for one that is yet to be created.
    /// - Throws: Every error.
    package init(
        of slatefile: Slatefile, withIsolated isolated: Bool = false,
        unmade isUnmade: (Int) -> Bool = { _ in false },
        having routes: (ModuleID) -> [AnyRoute]?
    ) throws(RouteTableError) {
        let enabled = slatefile.modules.lazy.filter(\.isEnabled)
        do throws(RouteError) {
            try self.init(
                schemes: slatefile.schemes, modules: enabled.map(\.id),
                fallback: slatefile.fallback, rewrites: slatefile.rewrites)
        } catch {
            throw RouteTableError(diagnostics: [error])
        }
        leftOut = slatefile.leftOutModules
        instead = InsteadURLs(slatefile.insteadURLs)
        var diagnostics: [RouteError] = []
        for (place, module) in enabled.enumerated() {
            diagnostics += add(
                routesOf: module, routes(module.id), withIsolated: isolated,
                isUnmade: isUnmade(place))
        }
        if !diagnostics.isEmpty { throw RouteTableError(diagnostics: diagnostics) }
    }

    /// Replaces the routes of modules that another slatefile changes.
    ///
    /// - Parameters:
    ///   - modules: The modules, as for the initializer.
    ///   - instead: The URLs that are opened instead of failed modules.
    ///   - leftOut: The modules that the app was composed without.
    /// - Throws: Every error.
    mutating func replaceRoutes(
        of modules: [(entry: Slatefile.Module, isUnmade: Bool, routes: [AnyRoute]?)],
        instead: InsteadURLs?, leftOut: LeftOutModules?
    ) throws(RouteTableError) {
        (self.instead, self.leftOut) = (instead, leftOut)
        for module in modules {
            guard let position = contents.position(of: module.entry.id) else { continue }
            for entry in routes(at: position) { remove(entry.index) }
        }
        var diagnostics: [RouteError] = []
        for module in modules {
            diagnostics += add(routesOf: module.entry, module.routes, isUnmade: module.isUnmade)
        }
        if !diagnostics.isEmpty { throw RouteTableError(diagnostics: diagnostics) }
    }

    /// Adds the routes of a module: those that it has or, where it is yet to be created, those that are known.
    private mutating func add(
        routesOf module: Slatefile.Module, _ routes: [AnyRoute]?,
        withIsolated isolated: Bool = false, isUnmade: Bool
    ) -> [RouteError] {
        var known = routes ?? []
        if routes == nil, isUnmade, case .command = module.implementation {
            known = module.placeholderRoutes
        }
        var diagnostics: [RouteError] = []
        for route in known {
            do throws(RouteError) {
                try add(route, of: module.id)
            } catch {
                diagnostics.append(error)
            }
        }
        guard routes == nil, isolated || isUnmade || module.isolation != .process,
            case .entry(let name) = module.implementation,
            let type = try? EntryType(name, search: .none).type,
            let routed = type as? any RoutedModule.Type
        else { return diagnostics }
        return diagnostics + add(routesOf: routed, as: module.id)
    }

    /// Creates the table of the routes that a class lists, without those with errors.
    package init(of type: any RoutedModule.Type) {
        self.init()
        let module = ModuleID(checked: "")
        append(module)
        _ = add(routesOf: type, as: module)
    }

    /// Creates a table for ``check(_:as:)`` alone.
    init() {
        self.init(schemes: [], modules: [], fallback: nil, rewrites: RouteRewrites())
    }

    /// Checks whether a module can have the routes that its class lists, beside those that were checked
    /// before.
    ///
    /// - Parameter module: The module's name; nil where it has no unique one.
    mutating func check(_ type: any RoutedModule.Type, as module: ModuleID?) -> [RouteError] {
        if let module, contents.position(of: module) == nil {
            append(module)
            return add(routesOf: type, as: module)
        }
        // Under a name that is taken, each route would seem to exist already.
        var alone = RouteTable()
        let nobody = ModuleID(checked: "")
        alone.append(nobody)
        return alone.add(routesOf: type, as: nobody).filter { error in
            if case .pattern = error { true } else { false }
        }
    }

    /// Adds the routes that a class lists, as many of them as possible.
    private mutating func add<M: RoutedModule>(
        routesOf type: M.Type, as module: ModuleID
    ) -> [RouteError] {
        var diagnostics: [RouteError] = []
        var actions: Set<String> = []
        for route in M.routes {
            do throws(RouteError) {
                try add(AnyRoute(route), of: module)
                if !actions.insert(route.action).inserted {
                    diagnostics.append(.repeatedAction(route.action, of: module))
                }
            } catch {
                diagnostics.append(error)
            }
        }
        return diagnostics
    }
}

extension Slatefile {
    /// The modules that the app was composed without; nil for one that has all.
    var leftOutModules: RouteTable.LeftOutModules? {
        part.map { RouteTable.LeftOutModules(modules.filter(\.isLeftOut).map(\.id), $0.reason) }
    }
}

extension Slatefile.Module {
    /// The routes that are known of a module that is not made: those that its class lists, or the patterns that its
    /// entry declares.
    var placeholderRoutes: [AnyRoute] {
        guard case .entry = implementation else {
            return (declared?.routes ?? []).compactMap { pattern in
                try? AnyRoute(
                    pattern, action: pattern, access: .public,
                    summary: "Declared in the slatefile; the rest is known when the module runs.",
                    ErasedHandler(
                        check: { _ throws(ParameterError) in },
                        describe: { _ in RequestDescription(fields: []) }, replyType: nil,
                        later: nil, elsewhere: nil
                    ) { _, _, _ in throw RouteError.stopped })
            }
        }
        return (try? (type as? any RoutedModule.Type)?.erasedRoutes()) ?? []
    }
}

/// The errors of the routes of a slatefile, in the order of the file.
package struct RouteTableError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The errors; never empty.
    package let diagnostics: [RouteError]

    /// The errors, on one line.
    package var description: String {
        diagnostics.map(\.description).joined(separator: "; ")
    }
}
