import TestSupport

@testable import ModuleHostCore

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

extension TestHost {
    /// Opens a URL, as a remote caller unless the test says otherwise.
    ///
    /// - Returns: The reply's JSON, or the error in words.
    func answer(_ url: String, from origin: Origin = .control(uid: 1000, pid: 42)) async -> String {
        do {
            return try await open(url, from: origin).description
        } catch {
            return "\(error)"
        }
    }

    /// The report of the host on the last event of a kind: its receivers and their answers.
    func outcome(of kind: EventKind) -> String? {
        records.last { $0.module == nil && $0.event == kind.rawValue }?.message
    }

    /// Notifies the modules that the slatefile was read again, and waits until all have received this.
    ///
    /// - Parameters:
    ///   - module: The module whose settings changed; nil where nothing did.
    ///   - config: Its settings now, as JSON.
    /// - Throws: Where id or settings are malformed.
    func reload(_ module: String? = nil, config: String = "{}") async throws {
        var reload = ConfigurationReload(
            appConfig: host.slatefile.config, isAppConfigChanged: false,
            configs: host.slatefile.configs)
        if let module = try module.map({ try ModuleID($0) }) {
            reload.configs[module] = try JSONValue(parsing: config)
            reload.changed = [module]
        }
        host.enqueue(.own(.reload(reload, origin: .host)))
        try await settle()
    }
}

extension TestHost.Settings {
    /// Swift modules run in the `hostd` that was built with these tests; classes are not checked.
    static var uncheckedInHostd: TestHost.Settings {
        var settings = TestHost.Settings(executable: "hostd")
        settings.isChecked = false
        return settings
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
