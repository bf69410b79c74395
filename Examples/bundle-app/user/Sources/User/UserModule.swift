import ModuleHost

/// Knows who is signed in, and tells the other modules.
public final class UserModule: RoutedModule {
    struct Name: Codable, Sendable { var name: String }

    private let context: ModuleContext
    private var name: String?

    /// Creates the module.
    public init(context: ModuleContext) { self.context = context }

    /// The calls of the module.
    public static var routes: [Route<UserModule>] {
        [
            Route("sign-in/:name", action: "sign-in", access: .public, summary: "Signs a user in.")
            {
                (module, user: Name, call) in
                module.name = user.name
                try module.context.post("user.signed-in", user)
                return user
            },
            Route("name", access: .public, summary: "The name of the user.") { (module, call) in
                module.name ?? "nobody"
            },
        ]
    }
}
