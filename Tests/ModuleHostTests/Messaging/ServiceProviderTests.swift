import Testing

@testable import ModuleHostCore

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

/// A service that cannot cross processes.
protocol PlainService {
    func next() async throws -> Int
    var count: Int { get }
    var later: Int { get async throws }
}

/// Provides it, in the host.
final class PlainProvider: ServiceProvider, PlainService {
    static var services: [Any.Type] { [(any PlainService).self] }
    let count = 1
    var later: Int { get async throws { 2 } }

    init(context: ModuleContext) throws {
        try context.services.register((any PlainService).self) { self }
    }

    func next() async throws -> Int { 3 }
}

/// Uses it.
final class PlainUser: Module {
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func read() throws -> Int {
        try context.services.call((any PlainService).self) { $0.count }
    }
}

/// Declares that it uses it.
final class PlainDeclaredUser: ServiceUser {
    static var usedServices: [Any.Type] { [(any PlainService).self] }

    init(context: ModuleContext) {}
}

/// A service that crosses processes.
protocol TimeService: Sendable {
    func now() async throws -> Int
}

struct TimeFacade: ServiceFacade, TimeService {
    static let actions = ["now"]
    private let provider: ProviderCalls

    init(_ provider: ProviderCalls) { self.provider = provider }

    var service: any TimeService { self }
    func now() async throws -> Int { try await provider.call("now") }
}

final class TimeProvider: RoutedModule, ServiceProvider {
    static var services: [Any.Type] { [(any TimeService).self] }
    static var facades: [any ServiceFacade.Type] { [TimeFacade.self] }
    static var routes: [Route<TimeProvider>] { [Route("now") { (_, _) in 7 }] }

    init(context: ModuleContext) {}
}

/// Uses it, in whatever process either of the two runs.
final class TimeUser: RoutedModule, ServiceUser {
    static var usedServices: [Any.Type] { [(any TimeService).self] }
    static var routes: [Route<TimeUser>] {
        [Route("time") { (module, call) async throws -> Int in try await module.time.now() }]
    }
    private let time: any TimeService

    init(context: ModuleContext) throws {
        time = try context.services.resolve((any TimeService).self)
    }
}

final class BrokenTimeProvider: RoutedModule, ServiceProvider {
    static var services: [Any.Type] { [(any TimeService).self] }
    static var facades: [any ServiceFacade.Type] { [TimeFacade.self] }
    static var routes: [Route<BrokenTimeProvider>] { [Route("nowe") { (_, _) in 7 }] }

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
                    + "own: it provides 'DeclaredClock', which does not cross processes: its requirements "
                    + "may cross, but no façade is listed in 'facades'; leave \"isolation\" out, or "
                    + "give the service a façade"
            ])
    }

    @Test("a requirement that cannot cross is named by its place")
    func requirement() {
        #expect(
            diagnostics(module("x.plain", "PlainProvider", isolated)).first?
                .contains("requirement 2 of 3, a property, is not 'async throws'") == true)
        let requirements = ProtocolRequirements(of: (any PlainService).self)?.requirements
        #expect(
            requirements == [
                .init(kind: .method, isAsync: true), .init(kind: .getter, isAsync: false),
                .init(kind: .getter, isAsync: true),
            ])
        #expect(ProtocolRequirements(of: Int.self) == nil)
        #expect(ProtocolRequirements(of: (any PlainService & DeclaredClock).self) == nil)
    }

    @Test("a module whose services have façades can have a process of its own")
    func facade() {
        #expect(diagnostics(module("x.ok", "TimeProvider", isolated)).isEmpty)
        #expect(
            diagnostics(module("x.bad", "BrokenTimeProvider")) == [
                "line 3, column 27: façade 'TimeFacade' calls 'now', which is not an action of "
                    + "'ModuleHostTests.BrokenTimeProvider'; did you mean 'nowe'?"
            ])
    }

    @Test("the check says which modules \"isolation\": \"auto\" can isolate, and why not others")
    func automatic() throws {
        let modules: [HostUnderTest.Entry] = [
            .init(name: "a", type: "CallProbe"), .init(name: "p", type: "PlainProvider"),
            .init(name: "t", type: "TimeProvider"), .init(name: "u", type: "TimeUser"),
            .init(name: "v", type: "PlainDeclaredUser"),
        ]
        let slatefile = try HostUnderTest.slatefile(
            modules, top: #""isolation": "auto""#, probe: Probe())
        #expect(
            slatefile.isolationForecasts.map(\.description) == [
                "x.a: can run in a process of its own",
                "x.p: stays in the host: it provides 'PlainService', which does not cross processes: "
                    + "requirement 2 of 3, a property, is not 'async throws'",
                "x.t: can run in a process of its own", "x.u: can run in a process of its own",
                "x.v: stays in the host: it uses 'PlainService', which does not cross processes: "
                    + "requirement 2 of 3, a property, is not 'async throws'",
            ])
        #expect(try HostUnderTest.slatefile(modules, probe: Probe()).isolationForecasts == [])
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
