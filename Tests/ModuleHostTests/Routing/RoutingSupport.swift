import TestSupport

@testable import ModuleHostCore

/// A module that does nothing: tables never ask one.
final class IdleModule: Module {
    init(context: ModuleContext) {}
}

extension AnyRoute {
    /// A route for its pattern alone.
    static func plain(
        _ pattern: String, access: RouteAccess = .public
    ) throws(RouteError) -> AnyRoute {
        try AnyRoute(Route<IdleModule>(pattern, access: access) { _, _ in })
    }
}

extension RouteTable {
    /// A table of plain routes, added in this order.
    init(
        schemes: [String] = ["s"], _ routes: [(module: String, pattern: String)],
        fallback: String? = nil, rewrites: [(from: String, to: String)] = []
    ) throws(RouteError) {
        var modules: [ModuleID] = []
        for (module, _) in routes where !modules.contains(ModuleID(checked: module)) {
            modules.append(ModuleID(checked: module))
        }
        try self.init(
            schemes: schemes, modules: modules, fallback: fallback.map(ModuleID.init(checked:)),
            rewrites: rewrites.map { Slatefile.Rewrite(from: $0.from, to: $0.to) })
        for (module, pattern) in routes {
            try add(.plain(pattern), of: ModuleID(checked: module))
        }
    }

    /// A table of plain routes of one module `m`.
    init(_ patterns: String..., schemes: [String] = ["s"]) throws(RouteError) {
        try self.init(schemes: schemes, patterns.map { ("m", $0) })
    }

    /// What answers a URL: module and pattern, or the error.
    func answer(_ url: String) -> String {
        do {
            guard let match = try match(RouteURL(url)) else { return "notFound" }
            return "\(match.entry.module) \(match.entry.route.pattern)"
        } catch {
            return "\(error)"
        }
    }

    /// The parameters of the route that answers a URL.
    func parameters(_ url: String) throws -> [String: [String]]? {
        try match(RouteURL(url)).map { match in
            Dictionary(match.parameters.all.map { ($0.name, $0.values) }, uniquingKeysWith: +)
        }
    }
}
