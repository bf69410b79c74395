import ModuleHostCore

extension TestHost {
    /// Exchanges the modules and their settings while the app runs, as `hostd reload` does.
    ///
    /// Modules that are new or of another class are created and launched; those whose `config` changed
    /// receive it if they respond to `configuration-changed`; those that are missing are released.
    ///
    /// - Parameter modules: All modules from now on.
    /// - Throws: ``SlatefileError`` if they are not valid; ``TestHostError`` if a module cannot be created or
    ///   launched, and everything stays as it was; ``RouteError/stopped`` if the app has ended.
    public func reload(modules: [TestModule]) async throws {
        try await reload(
            slatefile: TestModule.slatefile(of: modules, schemes: settings.schemes))
    }

    /// Exchanges the slatefile while the app runs, as `hostd reload` does.
    ///
    /// - Parameter text: The text of the new slatefile.
    /// - Throws: As ``reload(modules:)``.
    public func reload(slatefile text: String) async throws {
        let (slatefile, tokens) = try settings.read(text)
        let outcome = try await wait(for: "the end of the reload") { done in
            host.reload(slatefile, tokens: tokens, origin: .host) { done(.success($0)) }
        }
        switch outcome {
        case .applied, .unchanged: break
        case .rolledBack(let reason): throw TestHostError.rolledBack(reason)
        case .stopped: throw RouteError.stopped
        }
    }
}
