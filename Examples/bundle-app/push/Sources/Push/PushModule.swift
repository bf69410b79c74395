import ModuleHost

/// Keeps the users who get notifications: those who have signed in.
public final class PushModule: RoutedModule, MessageResponder {
    private struct User: Decodable { var name: String }

    /// The topic that it listens to.
    public let topics = ["user.signed-in"]
    private var users: [String] = []

    /// Creates the module.
    public init(context: ModuleContext) {}

    /// The calls of the module.
    public static var routes: [Route<PushModule>] {
        [
            Route("users", access: .public, summary: "The users who get notifications.") {
                (module, call) in module.users
            }
        ]
    }

    /// Adds a user who has signed in.
    public func receive(_ message: Message) throws {
        guard let user = try message.payload?.decode(User.self) else { return }
        if !users.contains(user.name) { users.append(user.name) }
    }
}
