extension EntryUse {
    /// A check of entries against the classes of the running binary: whether the class exists, whether the
    /// main one can provide the root, whether settings decode as the type that the module declares, whether
    /// its routes and its services are possible beside those of the modules before it, whether there are the
    /// services and routes that it declares it uses, and whether it has one handler for each event.
    ///
    /// Pass it to ``Slatefile/read(_:path:environment:checkEntry:)``, which calls it in file order.
    ///
    /// - Parameter path: The slatefile's path. Where the binary lacks a class, its source is searched in the
    ///   packages of the slatefile and of the working directory; nil not to search.
    /// - Returns: The check. It stores its results, so each reading of a slatefile takes a new one.
    public static func checkAgainstBinary(
        ofSlatefile path: String? = nil
    ) -> (EntryUse) -> [EntryDiagnostic] {
        /// Targets in which a module was found, to be searched for other modules.
        var targets: [String] = []
        // Where every entry is wrong, only the first few get the costly search for a typing error, and only
        // the first hundred any search.
        var wrong = 0
        var routes = RouteTable()
        let uses = UseCheck()
        var sources: PackageSources?
        /// The programs that have the classes that this one lacks: one error says so for all modules.
        var otherHosts: Set<String> = []
        var classes: [String: ModuleClass] = [:]
        return { use in
            if let known = classes[use.entry] { return known.check(use, beside: &routes, uses) }
            let type: any Module.Type
            do throws(EntryError) {
                let search: EntryType.Search =
                    wrong < 8 ? .all : wrong < 100 ? .spellings : .none
                type = try EntryType(use.entry, targets: targets, search: search).type
            } catch {
                wrong += 1
                uses.lacksClasses = true
                if use.hasSource, !HostComposition.contains(use.module),
                    case .notFound(let entry, _, nearest: nil) = error
                {
                    return [.entry("\(EntryError.notComposed(entry))")]
                }
                if wrong <= 100, let path, case .notFound = error {
                    if sources == nil { sources = PackageSources(near: path) }
                    switch sources?.find(use.entry) {
                    case .newer(let file):
                        return [.entry("\(EntryError.notBuilt(use.entry, source: file))")]
                    case .elsewhere(let file):
                        return [.entry("\(EntryError.builtElsewhere(use.entry, source: file))")]
                    case .otherHost(let source, let host):
                        guard otherHosts.insert(host).inserted else { return [] }
                        let error = EntryError.otherHost(use.entry, source: source, host: host)
                        return [.entry("\(error)")]
                    case nil: break
                    }
                }
                return [.entry(error.description)]
            }
            let moduleClass = ModuleClass(type)
            classes[use.entry] = moduleClass
            let target = String(use.entry.prefix { $0 != "." })
            if targets.count < 16, !targets.contains(target) { targets.append(target) }
            return moduleClass.check(use, beside: &routes, uses)
        }
    }
}

/// A class and its protocols, looked up once for all modules of the class: a cast to a protocol searches a table
/// of the runtime.
private final class ModuleClass {
    private let type: any Module.Type
    private let providesRoot: Bool
    private let routed: (any RoutedModule.Type)?
    private let interceptor: (any CallInterceptor.Type)?
    private let provider: (any ServiceProvider.Type)?
    private let declaresUses: Bool
    private let configured: (any ConfiguredModule.Type)?
    /// The error of a module without settings.
    private lazy var errorWithoutConfig = configured?.error(in: .emptyObject)

    init(_ type: any Module.Type) {
        self.type = type
        providesRoot = type is any RootProvider.Type
        routed = type as? any RoutedModule.Type
        interceptor = type as? any CallInterceptor.Type
        provider = type as? any ServiceProvider.Type
        declaresUses = type is any ServiceUser.Type || type is any RouteUser.Type
        configured = type as? any ConfiguredModule.Type
    }

    /// Checks a module of the class.
    ///
    /// - Parameters:
    ///   - routes: The routes of the modules before it; those of this one are added.
    ///   - uses: The services of the modules before it; those of this one are added.
    func check(_ use: EntryUse, beside routes: inout RouteTable, _ uses: UseCheck)
        -> [EntryDiagnostic]
    {
        var diagnostics: [EntryDiagnostic] = []
        if use.isMain, !providesRoot {
            diagnostics.append(
                .entry("the main module supplies the root: '\(use.entry)' is not a RootProvider"))
        }
        diagnostics += AsyncHandler.conflicts(in: type, named: use.entry).map { .entry($0) }
        if let error = error(in: use.config) { diagnostics.append(.config(error)) }
        if let routed {
            diagnostics += routes.check(routed, as: use.module).map { .entry($0.description) }
        }
        if let interceptor {
            diagnostics += GuardedCalls(of: interceptor, schemes: routes.schemes).errors
                .map { .entry($0) }
            if use.isLazy {
                diagnostics.append(
                    .entry(
                        "'\(use.entry)' intercepts calls, so it cannot be made when it is needed: "
                            + "calls would pass it until then; remove \"launch\""))
            }
        }
        if let provider {
            diagnostics += uses.services.check(provider, use).map { .entry($0.description) }
        }
        if declaresUses {
            let type = type
            diagnostics.append(.uses { uses.check(type, use, in: $0).map(\.description) })
        }
        return diagnostics
    }

    private func error(in config: JSONValue?) -> UnplacedJSONError? {
        guard let config else { return errorWithoutConfig }
        return configured?.error(in: config)
    }
}

extension ConfiguredModule {
    fileprivate static func error(in config: JSONValue) -> UnplacedJSONError? {
        do throws(UnplacedJSONError) {
            _ = try config.decodeReportingAllWithoutPlaces(Configuration.self)
            return nil
        } catch {
            return error
        }
    }
}
