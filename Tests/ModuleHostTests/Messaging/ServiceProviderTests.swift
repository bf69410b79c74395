import Testing

@testable import ModuleHost

/// A service that is declared.
protocol DeclaredClock {}

/// Another one.
protocol DeclaredStore {}

/// Declares both.
final class DeclaredServices: ServiceProvider {
    static var services: [Any.Type] { [(any DeclaredClock).self, (any DeclaredStore).self] }

    init(context: ModuleContext) {}
}

/// Declares one of them.
final class DeclaredStoreModule: ServiceProvider {
    static var services: [Any.Type] { [(any DeclaredStore).self] }

    init(context: ModuleContext) {}
}

/// Declares that it has none.
final class NoServicesModule: ServiceProvider {
    static var services: [Any.Type] { [] }

    init(context: ModuleContext) {}
}

@Suite("Services that modules declare")
struct ServiceProviderTests {
    private func diagnostics(_ modules: String...) -> [String] {
        StaticRoutesTests.diagnostics(StaticRoutesTests.text(modules))
    }

    private func module(_ id: String, _ type: String, _ more: String = "") -> String {
        StaticRoutesTests.module(id, type, more)
    }

    private let isolated = #", "isolation": "process""#

    @Test("a module that provides services cannot have a process of its own")
    func isolatedProvider() {
        #expect(
            diagnostics(module("x.both", "DeclaredServices", isolated)) == [
                "line 3, column 28: 'ModuleHostTests.DeclaredServices' cannot run in a process of its "
                    + "own: it provides 'DeclaredClock', 'DeclaredStore', and services do not cross "
                    + "processes; leave \"isolation\" out, or offer actions instead"
            ])
    }

    @Test("in the host it can, and so can one that is disabled, or declares none")
    func allowed() {
        #expect(diagnostics(module("x.both", "DeclaredServices")).isEmpty)
        #expect(
            diagnostics(module("x.both", "DeclaredServices", #", "isolation": "none""#)).isEmpty)
        #expect(
            diagnostics(module("x.off", "DeclaredServices", #", "enabled": false"# + isolated))
                .isEmpty)
        #expect(diagnostics(module("x.none", "NoServicesModule", isolated)).isEmpty)
    }

    @Test("two modules cannot provide the same service")
    func duplicate() {
        #expect(
            diagnostics(
                module("x.both", "DeclaredServices"), module("x.store", "DeclaredStoreModule"),
                module("x.off", "DeclaredStoreModule", #", "enabled": false"#)) == [
                    "line 4, column 29: 'DeclaredStore' is provided already by x.both; provide it once"
                ])
        #expect(
            diagnostics(
                module("x", "DeclaredStoreModule"), module("x.store", "DeclaredStoreModule")
            )
            .last?.hasSuffix("'DeclaredStore' is provided already; provide it once") == true)
        // The one that is isolated provides nothing.
        #expect(
            diagnostics(
                module("x.both", "DeclaredServices", isolated),
                module("x.store", "DeclaredStoreModule")
            ).count == 1)
    }
}
