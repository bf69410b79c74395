import ModuleHostCore
import Modules

/// Makes a digest of what the user wrote: calls of each kind, as docs/modules.md shows them.
final class DigestModule: RoutedModule, MessageResponder, ServiceUser, RouteUser {
    struct Digest: Encodable, Hashable, Sendable {
        var user: String
        var posts: Int
        var newest: String?
    }

    let topics = ["digest.wanted"]
    private let context: ModuleContext
    private(set) var color: UserInfo.Color?

    static var usedServices: [Any.Type] { [(any UserDirectory).self] }
    static var usedRoutes: [UsedRoute] {
        [.action("posts", of: "com.mm.community"), .url("slate://userInfo?color=red")]
    }

    init(context: ModuleContext) throws {
        self.context = context
        let router = context.router.offLane
        try context.startup("color", priority: .low) {
            try await router.value(for: "slate://userInfo?color=red", as: UserInfo.self)
        } then: { info in
            self.color = info.color
        }
    }

    static var routes: [Route<DigestModule>] {
        [
            Route("digest/:user(/:page)", action: "digest", summary: "What a user wrote, in short.")
            {
                (module, request: Request, call) in
                try module.digest(of: request.user, page: request.page ?? 1)
            }
        ]
    }

    struct Request: Decodable, Sendable {
        var user: String
        var page: Int?
    }

    private func digest(of user: String, page: Int) throws -> Digest {
        let posts = try context.mediator.posts(of: user, page: page)
        return Digest(user: user, posts: posts.count, newest: posts.posts.first)
    }

    func receive(_ message: Message) throws {
        let directory = try context.services.resolve((any UserDirectory).self)
        try context.perform("user") {
            try await directory.signedInUser()  // in whatever process the community runs
        } then: { user in
            if let user { try self.postDigest(of: user) }
        }
    }

    private func postDigest(of user: String) throws {
        let url = try context.router.url(for: "digest/:user", ["user": user])
        let digest: Digest = try context.router.value(for: url)
        try context.post("digest.ready", digest)
    }
}
