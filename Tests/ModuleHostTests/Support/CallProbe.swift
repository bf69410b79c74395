import ModuleHostCore

/// A module with routes, which notes in its probe how it is called and does what the test wants.
///
/// A memory warning lets it act, too, so that a test can have it call others.
final class CallProbe: RoutedModule, ConfiguredModule, RootProvider, MemoryWarningResponder {
    struct Configuration: Decodable {
        var probe: String
        var root: String?
    }

    struct Sum: Decodable {
        var left: Int
        var right: Int
    }

    struct Named: Decodable { var name: String }
    struct Number: Decodable { var number: Int }

    static var routes: [Route<CallProbe>] {
        [
            Route("sum", access: .public, summary: "Adds two numbers.") {
                (module, request: Sum, call) in
                _ = try module.act("sum", call)
                return request.left + request.right
            },
            Route("user/:name", action: "user", access: .authorized) {
                (module, request: Named, call) in
                _ = try module.act("user", call)
                return request.name
            },
            Route("half/:number", action: "half", access: .public) {
                $0.number % 2 == 0
            } handler: {
                (module, request: Number, call) in
                _ = try module.act("half", call)
                return request.number / 2
            },
            Route("act") { (module, call) in try module.act("act", call) },
        ]
    }

    let context: ModuleContext
    let root: String?
    private let probe: Probe?
    let name: String

    init(context: ModuleContext) throws {
        self.context = context
        let configuration = try context.config(Configuration.self)
        probe = Probe.named(configuration.probe)
        root = configuration.root
        name = String(context.id.text.split(separator: ".").last ?? "")
    }

    private func act(_ route: String, _ call: RouteCall) throws -> String {
        try probe?.act("\(name) \(route)", self, call) ?? ""
    }

    func didReceiveMemoryWarning() throws {
        _ = try act("memory-warning", RouteCall(origin: .host))
    }
}
