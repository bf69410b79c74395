import ModuleHost

/// Signs a user in, which takes two seconds, as a service far away does.
///
/// The answer comes later: meanwhile the module, and all others, go on.
final class LoginModule: RoutedModule, RootProvider {
    struct Request: Decodable, Sendable { var name: String }

    struct Session: Codable, Equatable, Sendable { var user: String }

    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    var root: String? { nil }

    static var routes: [Route<LoginModule>] {
        [
            Route("login/:name", access: .public, summary: "Signs a user in.") {
                (module, request: Request, call, reply: Reply<Session>) in
                module.context.log.info("\(request.name) is signing in")
                module.context.timer(after: .seconds(2)) {
                    try module.context.post("user.signed-in", Session(user: request.name))
                    reply.send(Session(user: request.name))
                }
            }
        ]
    }
}
