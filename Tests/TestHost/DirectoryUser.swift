public import ModuleHost
import Modules

/// Uses a service of the community, in whatever process either of the two runs.
public final class DirectoryUser: RoutedModule, ServiceUser {
    /// The service.
    public static var usedServices: [Any.Type] { [(any UserDirectory).self] }
    private let context: ModuleContext
    private let directory: any UserDirectory

    /// - Parameter context: Its services.
    /// - Throws: ``ServiceError`` where no module provides the service.
    public init(context: ModuleContext) throws {
        self.context = context
        directory = try context.services.resolve((any UserDirectory).self)
    }

    /// `who` replies with the user, `posts` with the number of posts, and `write` signs a user in who writes one.
    public static var routes: [Route<DirectoryUser>] {
        [
            Route("who", access: .public, summary: "The user, as the community knows it.") {
                (module, call) async throws -> String? in
                try await module.directory.signedInUser()
            },
            Route("posts", access: .public, summary: "How many posts a user wrote.") {
                (module, request: Request, call) async throws -> Int in
                try await module.directory.postCount(of: request.of)
            },
            Route("write", access: .public, summary: "Signs a user in, and posts a text.") {
                (module, request: Writing, call) in
                let mediator = module.context.mediator
                _ = try mediator.perform(request.at, "signIn", ["name": request.name])
                _ = try mediator.perform(request.at, "post", ["text": "hello"])
            },
        ]
    }

    struct Writing: Decodable, Sendable {
        /// The id of the community.
        var at: String
        var name: String
    }

    struct Request: Decodable, Sendable {
        var of: String
    }
}
