extension EntryUse {
    /// A check of entries against the classes of the running binary: whether the class exists, whether the
    /// main one can provide the root, whether settings decode as the type that the module declares, whether
    /// its routes and its services are possible beside those of the modules before it, whether there are the
    /// services and routes that it declares it uses.
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
        return { use in
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
                        let error = EntryError.otherHost(use.entry, source: source, host: host)
                        return [.entry("\(error)")]
                    case nil: break
                    }
                }
                return [.entry(error.description)]
            }
            let target = String(use.entry.prefix { $0 != "." })
            if targets.count < 16, !targets.contains(target) { targets.append(target) }
            var diagnostics: [EntryDiagnostic] = []
            if use.isMain, !(type is any RootProvider.Type) {
                diagnostics.append(
                    .entry(
                        "the main module supplies the root: '\(use.entry)' is not a RootProvider"))
            }
            if let configured = type as? any ConfiguredModule.Type,
                let error = configured.error(in: use.config)
            {
                diagnostics.append(.config(error))
            }
            if let routed = type as? any RoutedModule.Type {
                diagnostics += routes.check(routed, as: use.module).map { .entry($0.description) }
            }
            if let interceptor = type as? any CallInterceptor.Type {
                diagnostics += GuardedCalls(of: interceptor, schemes: routes.schemes).errors
                    .map { .entry($0) }
                if use.isLazy {
                    diagnostics.append(
                        .entry(
                            "'\(use.entry)' intercepts calls, so it cannot be made when it is needed: "
                                + "calls would pass it until then; remove \"launch\""))
                }
            }
            if let provider = type as? any ServiceProvider.Type {
                diagnostics += uses.services.check(provider, use).map { .entry($0.description) }
            }
            if type is any ServiceUser.Type || type is any RouteUser.Type {
                diagnostics.append(
                    .uses { uses.check(type, use, in: $0).map(\.description) })
            }
            return diagnostics
        }
    }
}

extension ConfiguredModule {
    fileprivate static func error(in config: JSONValue?) -> JSONError? {
        do throws(JSONError) {
            _ = try (config ?? .emptyObject).decodeReportingAll(Configuration.self)
            return nil
        } catch {
            return error
        }
    }
}
