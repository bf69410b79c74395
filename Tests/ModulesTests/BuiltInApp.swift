import TestSupport

@testable import ModuleHost

/// A slatefile with one module beside the main one.
///
/// - Parameters:
///   - id: The module's id.
///   - entry: Its class.
///   - config: Its settings, as JSON.
///   - rest: More members of the slatefile, each with a comma before it.
///   - others: More modules, each with a comma before it.
/// - Returns: The slatefile's text.
func slatefile(
    _ id: String, _ entry: String, config: String = "{}", rest: String = "", others: String = ""
) -> String {
    """
    {
      "slate": 1,
      "app": "demo",
      "modules": [
        { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
        { "id": "\(id)", "entry": "\(entry)", "config": \(config) }\(others)
      ]\(rest)
    }
    """
}

extension RunningHost {
    /// Looks at a module, on the lane; nil where it does not run.
    func module<M: Module & SendableMetatype, Result: Sendable>(
        _ type: M.Type, _ look: @escaping @Sendable (M) -> Result
    ) async -> Result? {
        let found = Promise<Result?>()
        host.onLane { app, _ in
            let module = app.records.lazy.compactMap { $0.module as? M }.first
            found.keep(module.map(look))
        }
        return await found.value
    }

    /// Calls a route by URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - access: The most that the caller may reach: `local` for a module of the app, `authorized` for
    ///     who has a token, `public` for everybody else.
    /// - Returns: The reply as JSON text, or the error after `failed: `.
    func open(_ url: String, as access: RouteAccess = .public) async -> String {
        let reply = Promise<String>()
        host.onLane { app, thread in
            do {
                reply.keep(try app.open(url, as: access, on: thread))
            } catch {
                reply.keep("failed: \(error)")
            }
        }
        return await reply.value
    }

    /// Waits until everything that was accepted before has been worked off.
    func settled() async {
        await withCheckedContinuation { continuation in
            host.onLane { _, _ in continuation.resume() }
        }
    }

    /// Tells the modules that the slatefile was read again, and waits until all have heard.
    ///
    /// - Parameters:
    ///   - module: The module whose settings changed; nil where nothing did.
    ///   - config: Its settings now, as JSON.
    /// - Throws: Where id or settings are malformed.
    func reload(_ module: String? = nil, config: String = "{}") async throws {
        var modules: [ModuleID: (config: JSONValue?, isChanged: Bool)] = [:]
        for entry in host.slatefile.modules { modules[entry.id] = (entry.config, false) }
        if let module {
            modules[try ModuleID(module)] = (try JSONValue(parsing: config), true)
        }
        let reload = ConfigurationReload(
            appConfig: host.slatefile.config, isAppConfigChanged: false, modules: modules)
        try await awaiting(.configurationChanged) { host.deliver(reload, origin: .host) }
    }
}

extension RunningApp {
    fileprivate func open(
        _ text: String, as access: RouteAccess, on thread: LaneThread
    ) throws -> String {
        var table = try RouteTable(
            schemes: slatefile.schemes, modules: records.map(\.id), fallback: slatefile.fallback,
            rewrites: slatefile.rewrites)
        for record in records {
            guard let module = record.module as? any RoutedModule else { continue }
            for route in try type(of: module).erasedRoutes() {
                try table.add(route, of: record.id)
            }
        }
        let levels = RouteAccess.allCases
        let match = try table.match(RouteURL(text).separatingToken().url) { entry, parameters in
            let needed = levels.firstIndex(of: entry.route.access) ?? 0
            return needed >= levels.firstIndex(of: access) ?? 0
                && entry.route.accepts(parameters)
        }
        guard let match, let record = records.first(where: { $0.id == match.entry.module }),
            let module = record.module
        else { return "not found" }
        let outcome = gate.call(record.cell, on: thread) {
            try match.entry.route.perform(
                module, match.parameters, RouteCall(origin: .host, url: match.url))
        }
        switch outcome {
        case .returned(let reply):
            return String(decoding: try JSONEncoding.bytes(reply), as: UTF8.self)
        case .threw(let error): throw error
        default: return "lost"
        }
    }
}

/// The faults of a slatefile, each as `pointer: message`.
func faults(of slatefile: String) -> [String] {
    do throws(SlatefileError) {
        _ = try Slatefile.read(
            Array(slatefile.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
        return []
    } catch {
        return error.faults.map { "\($0.pointer): \($0.message)" }
    }
}
