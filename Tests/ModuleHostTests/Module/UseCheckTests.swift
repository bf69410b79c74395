import AppService
import Testing

@testable import ModuleHostCore

/// A service that no module declares.
protocol UndeclaredClock {}

/// Uses services that other modules may declare.
final class UsingModule: ServiceUser {
    static var usedServices: [Any.Type] { [(any DeclaredClock).self, (any DeclaredStore).self] }

    init(context: ModuleContext) {}
}

/// Uses a service that no module declares.
final class UsingNothingModule: ServiceUser {
    static var usedServices: [Any.Type] { [(any UndeclaredClock).self] }

    init(context: ModuleContext) {}
}

/// Calls routes that ``ListedModule`` and others may have.
final class CallingModule: RouteUser {
    static var usedRoutes: [UsedRoute] {
        [
            .action("page/:id", of: "x.listed"), .url("slate://x.listed/page/7"),
            .url("slate://page/7"), .url("other://open/7"),
        ]
    }

    init(context: ModuleContext) {}
}

/// Routes, with a count of how often they were created.
final class CountedRoutesModule: RoutedModule {
    static let count = Guarded(0)
    static var routes: [Route<CountedRoutesModule>] {
        count.withLock { $0 += 1 }
        return [Route("page/:id") { _, _ in }]
    }

    init(context: ModuleContext) {}
}

/// Calls one action often.
final class OftenCallingModule: RouteUser {
    static var usedRoutes: [UsedRoute] {
        Array(repeating: .action("page/:id", of: "x.counted"), count: 100)
    }

    init(context: ModuleContext) {}
}

@Suite("Services and routes that modules declare they use")
struct UseCheckTests {
    private func diagnostics(_ modules: String..., rewrites: [String] = []) -> [String] {
        StaticRoutesTests.diagnostics(StaticRoutesTests.text(modules, rewrites: rewrites)).map {
            String($0.drop { $0 != ":" }.dropFirst(2))
        }
    }

    private func module(_ id: String, _ type: String, _ more: String = "") -> String {
        StaticRoutesTests.module(id, type, more)
    }

    private let off = #", "enabled": false"#
    private let isolated = #", "isolation": "process""#
    private let command = #"{ "id": "x.command", "command": ["true"] }"#

    @Test("a service that an enabled module declares is there, wherever that module stands")
    func provided() {
        #expect(
            diagnostics(module("x.user", "UsingModule"), module("x.both", "DeclaredServices"))
                .isEmpty)
        #expect(
            diagnostics(
                module("x.user", "UsingModule", off), module("x.nothing", "UsingNothingModule", off)
            ).isEmpty)
    }

    @Test(
        "one that none declares is an error, with the module that would or the most similar service"
    )
    func notProvided() {
        #expect(
            diagnostics(
                module("x.user", "UsingModule"), module("x.store", "DeclaredStoreModule"),
                module("x.both", "DeclaredServices", off))
                == [
                    "'ModuleHostTests.UsingModule' uses service 'DeclaredClock', which only x.both declares: "
                        + "enable that module"
                ])
        #expect(
            diagnostics(
                module("x.user", "UsingNothingModule"), module("x.both", "DeclaredServices"))
                == [
                    "'ModuleHostTests.UsingNothingModule' uses service 'UndeclaredClock', which no enabled "
                        + "module declares; did you mean 'DeclaredClock'?"
                ])
        #expect(
            diagnostics(module("x.user", "UsingNothingModule")) == [
                "'ModuleHostTests.UsingNothingModule' uses service 'UndeclaredClock', which no enabled module "
                    + "declares"
            ])
    }

    @Test("a similar service is searched for the first hundred that none declares")
    func manyNotProvided() {
        let users = (0..<101).map { module("x.user\($0)", "UsingNothingModule") }
        let lines = StaticRoutesTests.diagnostics(
            StaticRoutesTests.text(users + [module("x.both", "DeclaredServices")]))
        #expect(lines.count == 101)
        #expect(lines.count { $0.hasSuffix("did you mean 'DeclaredClock'?") } == 100)
    }

    @Test("a module in a process of its own uses those that have a façade")
    func isolatedUser() {
        #expect(
            diagnostics(
                module("x.both", "DeclaredServices"), module("x.user", "UsingModule", isolated))
                == [
                    "'ModuleHostTests.UsingModule' cannot run in a process of its own: it uses "
                        + "'DeclaredClock', which does not cross processes: its requirements may cross, but "
                        + "no façade is listed in 'facades'; leave \"isolation\" out, give the service a "
                        + "façade, or call actions instead"
                ])
        let user = module("x.user", "TimeUser", isolated)
        for provider in ["", isolated] {
            #expect(diagnostics(user, module("x.time", "TimeProvider", provider)).isEmpty)
        }
        #expect(
            diagnostics(user) == [
                "'ModuleHostTests.TimeUser' uses service 'TimeService', which no enabled module declares"
            ])
    }

    @Test("routes of an enabled module are there, in a process of its own as well")
    func routes() {
        let calling = module("x.calling", "CallingModule")
        #expect(diagnostics(calling, module("x.listed", "ListedModule")).isEmpty)
        #expect(diagnostics(calling, module("x.listed", "ListedModule", isolated)).isEmpty)
        #expect(
            diagnostics(
                calling, #"{ "id": "x.listed", "command": ["true"] }"#,
                rewrites: [#"{ "from": "slate://old/:id", "to": "slate://x.listed/page/:id" }"#]
            ).isEmpty)
    }

    @Test("the routes of a class are created once for all that call it")
    func routesOnce() {
        /// Returns how often the routes are created.
        func count(_ users: String...) -> Int {
            CountedRoutesModule.count.withLock { $0 = 0 }
            #expect(
                StaticRoutesTests.diagnostics(
                    StaticRoutesTests.text([module("x.counted", "CountedRoutesModule")] + users)
                ).isEmpty)
            return CountedRoutesModule.count.withLock { $0 }
        }
        let unused = count()
        let users = (0..<3).map { module("x.often\($0)", "OftenCallingModule") }
        #expect(count(users[0], users[1], users[2]) == unused + 1)
    }

    @Test("a route that no module has is an error, with the nearest")
    func noRoute() {
        let calling = module("x.calling", "CallingModule")
        let who = "'ModuleHostTests.CallingModule' calls "
        #expect(
            diagnostics(calling, module("x.liste", "ListedModule")) == [
                who
                    + "action 'page/:id' of 'x.listed', which is not a module of this slatefile; did you mean "
                    + "'x.liste'?",
                who
                    + "a route that does not exist: no route for 'slate://x.listed/page/7'; did you mean "
                    + "'slate://x.liste/page/:id'?",
            ])
        #expect(
            diagnostics(calling, module("x.listed", "ListedModule", off)).first
                == who + "action 'page/:id' of 'x.listed', which is not enabled")
        #expect(
            diagnostics(calling, module("x.listed", "UsingNothingModule", off + "")).count == 4)
        #expect(
            diagnostics(module("x.listed", "DeclaredStoreModule"), calling).first
                == who + "a route that does not exist: no action 'page/:id' of 'x.listed'")
    }

    @Test("a URL that a program might answer is not judged, unless it names another module")
    func mayBeOfCommand() {
        let calling = module("x.calling", "CallingModule")
        #expect(
            diagnostics(calling, module("x.listed", "DeclaredStoreModule"), command) == [
                "'ModuleHostTests.CallingModule' calls a route that does not exist: no action 'page/:id' of "
                    + "'x.listed'",
                "'ModuleHostTests.CallingModule' calls a route that does not exist: no route for "
                    + "'slate://x.listed/page/7'",
            ])
    }

    @Test("nothing is said of uses where a class is missing, or a module is not valid")
    func notComplete() {
        let user = module("x.user", "UsingNothingModule")
        #expect(diagnostics(user, module("x.gone", "GoneForGoodModule")).count == 1)
        #expect(diagnostics(user, #"{ "id": "x.bad" }"#).count == 1)
    }
}
