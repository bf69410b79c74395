/// The modules of an app and what each needs, provides, uses and calls, as far as its slatefile and the binary
/// declare it: the output of `hostd graph`.
///
/// No module is created for it. Names from classes and from the slatefile are as they are; each format escapes them.
package struct AppGraph: Hashable, Sendable {
    /// The formats of the output.
    package enum Format: String, Sendable, CaseIterable {
        /// Lines for a person.
        case text
        /// A graph for Graphviz.
        case dot
        /// A picture.
        case svg
        /// One object, whose form is stable.
        case json
    }

    /// A service or a route of a module, with the module that has it.
    package struct Use: Hashable, Sendable {
        /// The service, the action, or the example of a URL.
        package let name: String
        /// The module that provides or answers it; nil where that is not known before it runs.
        package let module: ModuleID?
    }

    /// An enabled module.
    package struct Module: Hashable, Sendable {
        package let id: ModuleID
        /// The class, or the command.
        package let entry: String
        package let isMain: Bool
        package let isRequired: Bool
        /// Whether it always runs in a process of its own.
        package let isIsolated: Bool
        /// Whether it is made when it is needed.
        package let isLazy: Bool
        package let needs: [ModuleID]
        package var provides: [String] = []
        package var uses: [Use] = []
        package var calls: [Use] = []
        package var topics: [String] = []
        /// The topics on which it posts.
        package var posts: [String] = []

        /// The words beside the id: the entry, and the settings that matter to a reader.
        var summary: [String] {
            [entry] + (isMain ? ["main"] : []) + (isRequired ? ["required"] : [])
                + (isIsolated ? ["own process"] : []) + (isLazy ? ["on demand"] : [])
        }
    }

    package let app: String
    /// The enabled modules, in the order of the slatefile.
    package let modules: [Module]

    /// Creates the graph of a slatefile.
    ///
    /// - Parameter slatefile: The app; what the check against the binary would refuse has no edge.
    package init(of slatefile: Slatefile) {
        app = slatefile.app
        let enabled = slatefile.modules.filter(\.isEnabled)
        var providers: [ObjectIdentifier: ModuleID] = [:]
        for module in enabled {
            for service in (module.type as? any ServiceProvider.Type)?.services ?? [] {
                providers[ObjectIdentifier(service)] = module.id
            }
        }
        let ids = Dictionary(
            enabled.map { ($0.id.text, $0.id) }, uniquingKeysWith: { first, _ in first })
        let table = try? UseCheck.table(of: slatefile).get()
        modules = enabled.map { module in
            var node = Module(module)
            let type = module.type
            node.provides =
                (type as? any ServiceProvider.Type)?.services.map { "\($0)" }
                ?? module.declared?.routes ?? []
            node.topics =
                (type as? any TopicListener.Type)?.topics ?? module.declared?.topics ?? []
            node.posts = (type as? any TopicPoster.Type)?.postedTopics ?? []
            node.uses =
                (type as? any ServiceUser.Type)?.usedServices.map {
                    Use(name: "\($0)", module: providers[ObjectIdentifier($0)])
                } ?? []
            node.calls =
                (type as? any RouteUser.Type)?.usedRoutes.map { route in
                    switch route.target {
                    case .action(let action, of: let id): Use(name: action, module: ids[id])
                    case .url(let text): Use(name: text, module: table?.module(of: text))
                    }
                } ?? []
            return node
        }
    }

    /// The graph in a format.
    package func rendered(as format: Format) -> String {
        switch format {
        case .text: text
        case .dot: dot
        case .svg: AppGraphPicture(self).svg
        case .json: json
        }
    }
}

extension AppGraph.Module {
    fileprivate init(_ module: Slatefile.Module) {
        entry = module.implementation.text
        id = module.id
        isMain = module.isMain
        isRequired = module.isRequired
        isIsolated = module.isCommand || module.isolation == .process
        isLazy = module.isLazy
        needs = module.needs
    }
}

extension RouteTable {
    /// Returns the module that answers a URL; nil for none.
    fileprivate func module(of text: String) -> ModuleID? {
        guard let url = try? RouteURL(text) else { return nil }
        return (try? match(url))??.entry.module
    }
}
