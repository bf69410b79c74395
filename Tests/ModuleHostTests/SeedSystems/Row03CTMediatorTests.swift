import TestSupport
import Testing

@testable import ModuleHostCore

/// A target with actions, as other modules know it: by its id alone.
final class WeatherModule: RoutedModule {
    struct Place: Decodable { var city: String }

    struct Forecast: Encodable, Equatable, Sendable {
        var city: String
        var degrees: Double
    }

    /// An object that is no text.
    final class Station: Encodable, Sendable {
        let name = "roof"
    }

    static var routes: [Route<WeatherModule>] {
        [
            Route("forecast/:city", action: "forecast", access: .public) {
                (module, request: Place, call) in
                module.asked += 1
                return Forecast(city: request.city, degrees: 21.5)
            },
            // Open to all callers, whatever it is called.
            Route("nativeUnits", access: .public) { (module, call) in "celsius" },
            Route("nativeStation") { (module, call) in Station() },
            Route("asked") { (module, call) in module.asked },
            Route("isUp") { (module, call) in true },
            Route("cities") { (module, call) in ["paris", "oslo"] },
            Route("alarm") { (module, call) -> String? in nil },
            Route("origin", access: .public) { (module, call) in "\(call.origin)" },
            Route("reset") { (module, call) in module.asked = 0 },
        ]
    }

    private var asked = 0

    init(context: ModuleContext) {}
}

/// A module that no caller should be able to reach by a query.
final class SecretWeatherModule: RoutedModule {
    static var routes: [Route<SecretWeatherModule>] {
        [Route("forecast/:city", action: "forecast") { (module, call) in "secret" }]
    }

    init(context: ModuleContext) {}
}

/// A module that is notified of unanswered calls.
final class NoTargetModule: Module, NotFoundResponder {
    private let probe: Probe?

    init(context: ModuleContext) { probe = context.probe }

    func didNotFind(_ call: InterceptedCall, error: RouteError) {
        probe?.note("\(call.origin): \(error)")
    }
}

/// The façade that a category of CTMediator's would be.
extension Mediator {
    fileprivate func forecast(for city: String) throws -> WeatherModule.Forecast {
        try perform("x.weather", "forecast", ["city": city], as: WeatherModule.Forecast.self)
    }
}

/// Row 3 of the seed systems: target, action, parameters.
@Suite("Row 3: actions of targets", .timeLimit(.minutes(10)))
struct Row03CTMediatorTests {
    private func app(_ test: String = #function) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"),
                .init(name: "secret", type: "SecretWeatherModule"),
                .init(name: "weather", type: "WeatherModule"),
                .init(name: "hook", type: "NoTargetModule"),
            ], top: #""schemes": ["app"]"#, probe: Probe(test)
        ).launched()
    }

    private func withMediator(
        _ test: String = #function, _ body: @escaping @Sendable (Mediator) throws -> String
    ) async throws -> String {
        let host = try await app(test)
        let text = try await host.asFirst { try body($0.context.mediator) }
        #expect(await host.stopped() == .stopped)
        return text
    }

    // MARK: The verbs

    @Test("an action is performed by the names of target and action")
    func perform() async throws {
        let text = try await withMediator { mediator in
            let forecast = try mediator.perform(
                "x.weather", "forecast", ["city": "paris"], as: WeatherModule.Forecast.self)
            return "\(forecast.city) \(forecast.degrees)"
        }
        #expect(text == "paris 21.5")
    }

    @Test("the target is made by the name of its class, once, and keeps what it knows")
    func target() async throws {
        let text = try await withMediator { mediator in
            for city in ["paris", "oslo"] {
                try mediator.perform("x.weather", "forecast", ["city": city])
            }
            let asked = try mediator.perform("x.weather", "asked", as: Int.self)
            try mediator.perform("x.weather", "reset")
            return "\(asked) \(try mediator.perform("x.weather", "asked", as: Int.self))"
        }
        #expect(text == "2 0")
    }

    @Test("a URL from outside is the same call as a local one")
    func remoteURL() async throws {
        let host = try await app()
        let forecast = #"{"city":"paris","degrees":21.5}"#
        #expect(await host.open("app://x.weather/forecast/paris") == forecast)
        #expect(await host.call("x.weather", "forecast", ["city": "paris"]) == forecast)
        #expect(await host.open("app://x.weather/origin") == #""control from pid 42 (uid 1000)""#)
        let asked = try await host.asFirst { module in
            #expect(try module.context.mediator.forecast(for: "paris").degrees == 21.5)
            #expect(
                try module.context.mediator.perform("x.weather", "origin", as: String.self)
                    == "x.a")
            return "\(try module.context.mediator.perform("x.weather", "asked", as: Int.self))"
        }
        #expect(asked == "3")
        #expect(await host.stopped() == .stopped)
    }

    @Test("an unanswered call goes to a hook, and is an error of the caller besides")
    func notFound() async throws {
        let host = try await app()
        let text = try await host.asFirst { module in
            let errors = [("x.wether", "forecast"), ("x.weather", "forcast")].map { target in
                #expect(throws: RouteError.self) {
                    try module.context.mediator.perform(target.0, target.1)
                }
            }
            return errors.map { $0.map { "\($0)" } ?? "no error" }.joined(separator: "\n")
        }
        let errors = [
            "no module 'x.wether'; did you mean 'x.weather'?",
            "no action 'forcast' of 'x.weather'; did you mean 'forecast'?",
        ]
        #expect(text == errors.joined(separator: "\n"))
        let remote = await host.open("app://x.weather/tomorrow")
        let control = Origin.control(uid: 1000, pid: 42)
        #expect(
            host.probe.entries == errors.map { "x.a: \($0)" } + ["\(control): \(remote)"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("a façade is an extension of the mediator, with the types of the action")
    func facade() async throws {
        let text = try await withMediator { "\(try $0.forecast(for: "oslo").city)" }
        #expect(text == "oslo")
    }

    // MARK: What breaks elsewhere

    @Test(
        "an action that is not declared open cannot be reached by spelling it otherwise",
        arguments: [
            "app://x.weather/nativeStation", "app://x.weather/%6EativeStation",
            "app://x.weather/NATIVESTATION", "app://x.weather/NativeStation",
            "app://x.weather/n%61tiveStation", "app://X.WEATHER/%6eativeStation",
            "APP://x.weather//nativeStation/", "app://x.weather/nativeStation?native=0",
            "app://x.weather/nativeStation#remote", "app://nativeStation", "app:/nativeStation",
            "app:///nativeStation", "app://x.weather/nativeStation%00",
            "app://x.weather/forecast%2F..%2FnativeStation",
            "app://x.weather/./nativeStation", "app://x.weather/%2E/nativeStation",
            "app://x.weather/forecast/../nativeStation",
            "app://x.weather/%256EativeStation", "app://x.weather/nativeStation;public",
        ])
    func native(url: String) async throws {
        let host = try await app("native \(url)")
        for origin in [Origin.control(uid: 0, pid: 1), .push, .inbox] {
            let text = await host.open(url, from: origin)
            let isRefused =
                text.hasPrefix("no route for '") || text.hasPrefix("malformed URL: ")
            // What is offered instead may be reached.
            let offer = text.split(separator: "did you mean ").dropFirst().first ?? ""
            #expect(isRefused && !offer.contains("nativeStation"), "\(text)")
        }
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "nor by its name, which is as unknown as one that is not there",
        arguments: ["nativeStation", "%6EativeStation", "NATIVESTATION", "nativeStation:", "none"])
    func nativeByName(action: String) async throws {
        let host = try await app("nativeByName \(action)")
        #expect(await host.call("x.weather", action) == "no action '\(action)' of 'x.weather'")
        #expect(await host.stopped() == .stopped)
    }

    @Test("nor does its name close an action that is declared open")
    func nativePublic() async throws {
        let host = try await app()
        #expect(await host.open("app://x.weather/nativeUnits") == #""celsius""#)
        #expect(await host.call("x.weather", "nativeUnits") == #""celsius""#)
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "a query chooses no class and no action",
        arguments: [
            "kCTMediatorParamsKeySwiftTargetModuleName=ModuleHostTests.SecretWeatherModule",
            "entry=ModuleHostTests.SecretWeatherModule", "module=x.secret", "target=x.secret",
            "action=nativeStation", "moduleID=x.secret&action=nativeStation",
        ])
    func chosenByQuery(query: String) async throws {
        let host = try await app("chosenByQuery \(query)")
        let forecast = #"{"city":"paris","degrees":21.5}"#
        #expect(await host.open("app://x.weather/forecast/paris?\(query)") == forecast)
        var items = [("city", ["paris"])]
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            items.append((parts[0], [parts[1]]))
        }
        #expect(
            await host.call("x.weather", "forecast", RouteParameters(list: items)) == forecast)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a reply may be of any type, or none")
    func replies() async throws {
        let text = try await withMediator { mediator in
            func reply<Reply>(_ action: String, as type: Reply.Type = Reply.self) throws -> Reply {
                try mediator.perform("x.weather", action, as: type)
            }
            let station = try reply("nativeStation", as: WeatherModule.Station.self)
            #expect(try reply("alarm", as: String?.self) == nil)
            #expect(try mediator.perform("x.weather", "reset") is NoReply)
            return """
                \(try reply("asked", as: Int.self)) \(try reply("isUp", as: Bool.self)) \
                \(try reply("cities", as: [String].self)) \(station.name)
                """
        }
        #expect(text == #"0 true ["paris", "oslo"] roof"#)
    }

    @Test("a reply of another type is an error and no crash")
    func otherReply() async throws {
        let text = try await withMediator { mediator in
            "\(try mediator.perform("x.weather", "cities", as: Int.self))"
        }
        #expect(text == "the reply is a Array<String>, not a Int")
    }
}
