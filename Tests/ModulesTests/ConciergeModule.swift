import ModuleHostCore

/// Looks after the calls of others: hooks, a route that comes later, a completion, and topics, as
/// docs/modules.md shows them.
final class ConciergeModule: CallInterceptor, NotFoundResponder, LaunchResponder, MessageResponder,
    MemoryWarningResponder
{
    struct Desk: Decodable, Sendable {
        var name: String
    }

    private let context: ModuleContext
    private let log: Log

    init(context: ModuleContext) {
        self.context = context
        log = context.log
    }

    func intercept(_ call: InterceptedCall) -> Interception {
        switch call.target {
        case .url(let url) where url.scheme == "http": .redirect("https" + url.text.dropFirst(4))
        case .action("signIn", of: "com.mm.community"): .refuse("signing in is disabled today")
        default: .proceed
        }
    }

    func didNotFind(_ call: InterceptedCall, error: RouteError) {
        log.notice("no route answers a call of \(call.origin)")
    }

    func didFinishLaunching(_ launch: Launch) throws {
        let desk = Route("desk/:name", access: .public) {
            (module: ConciergeModule, request: Desk, call) in
            "\(request.name) is at the desk"
        }
        try context.router.add(desk)
    }

    let topics = ["user.*"]

    func receive(_ message: Message) throws {
        guard message.topic == "user.signed-in" else { return }
        let name = message.payload?["name"]?.string ?? "somebody"
        log.info("\(name) signed in, says \(context.event?.origin ?? .host)")
    }

    func didReceiveMemoryWarning() {
        context.mediator.perform("com.mm.community", "signOut") { result in
            if case .failure(let error) = result { self.log.error("\(error)") }
        }
    }
}
