import TestSupport

@testable import ModuleHost

/// A slatefile with one module beside the main one.
///
/// - Parameters:
///   - id: The module's id.
///   - entry: Its class.
///   - config: Its settings, as JSON.
///   - isolated: Whether it runs in a process of its own.
///   - rest: More members of the slatefile, each with a comma before it.
///   - others: More modules, each with a comma before it.
/// - Returns: The slatefile's text.
func slatefile(
    _ id: String, _ entry: String, config: String = "{}", isolated: Bool = false,
    rest: String = "", others: String = ""
) -> String {
    """
    {
      "slate": 1,
      "app": "demo",
      "modules": [
        { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
        { "id": "\(id)", "entry": "\(entry)", "config": \(config)\(isolated ? ", \"isolation\": \"process\"" : "") }\(others)
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

    /// Opens a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: Who opens it; `host` reaches every route.
    /// - Returns: The reply's JSON, or the error in words.
    func open(_ url: String, from origin: Origin = .control(uid: 1000, pid: 42)) async -> String {
        await withCheckedContinuation { continuation in
            host.open(url, origin: origin, token: nil) { result in
                switch result {
                case .success(.json(let json)):
                    continuation.resume(returning: String(decoding: json, as: UTF8.self))
                case .success(.claimed(let module)):
                    continuation.resume(returning: "claimed by \(module)")
                case .failure(let error): continuation.resume(returning: "\(error)")
                }
            }
        }
    }

    /// Waits until everything that was accepted before has been worked off.
    func settled() async {
        await withCheckedContinuation { continuation in
            host.onLane { _, _ in continuation.resume() }
        }
    }

    /// Notifies the modules that the slatefile was read again, and waits until all have received this.
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
        try await awaiting(.configurationChanged) {
            host.enqueue(.own(.reload(reload, origin: .host)))
        }
    }
}

/// A file of tokens with one that covers these calls.
///
/// - Parameters:
///   - token: The token.
///   - scopes: What it covers, such as `slate://com.mm.community/post`.
/// - Returns: The file's text.
func tokens(_ token: String, for scopes: String...) -> String {
    let list = scopes.map { "\"\($0)\"" }.joined(separator: ", ")
    return #"[{ "token": "\#(token)", "name": "test", "scopes": [\#(list)] }]"#
}

/// The errors of a slatefile, each as `pointer: message`.
func diagnostics(of slatefile: String) -> [String] {
    do throws(SlatefileError) {
        _ = try Slatefile.read(
            Array(slatefile.utf8), path: "slatefile.json", environment: { _ in nil },
            checkEntry: EntryUse.checkAgainstBinary())
        return []
    } catch {
        return error.diagnostics.map { "\($0.pointer): \($0.message)" }
    }
}

extension ProcessSettings {
    /// Swift modules run in the `hostd` that was built with these tests.
    static var ofHostd: ProcessSettings {
        var settings = ProcessSettings()
        settings.binary = HostProcess.hostd
        return settings
    }
}

extension RunningHost {
    /// Kills the process of a module.
    func killProcess(of module: String) async {
        let done = Promise<Void>()
        host.onLane { app, _ in
            let record = app.records.first { $0.id.text == module }
            (record?.module as? IsolatedModule)?.kill()
            done.keep(())
        }
        await done.value
    }
}
