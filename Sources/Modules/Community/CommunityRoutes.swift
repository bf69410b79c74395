public import ModuleHostCore

/// The routes of the community.
///
/// The posts of users are public. A caller that posts in the name of the user needs a token, unless it is a
/// module of this app; only modules of this app set the user.
extension CommunityModule: RoutedModule {
    struct UserInfoRequest: Decodable, Sendable {
        var style: Int?
        var color: UserInfo.Color?
    }

    struct PostsRequest: Decodable, Sendable {
        var name: String
        var page: Int?

        /// Whether the number of the page is valid.
        var isPage: Bool { page ?? 1 >= 1 }
    }

    struct PostRequest: Decodable, Sendable {
        var text: String
    }

    struct SignInRequest: Decodable, Sendable {
        var name: String
    }

    /// The routes: `userInfo` and `user/:name/posts` public, `post` with a token, `signIn` and
    /// `signOut`, `signedInUser` and `postCount` for modules of the app.
    public static var routes: [Route<CommunityModule>] {
        [
            Route("userInfo", access: .public, summary: "The user who is signed in.") {
                (module, request: UserInfoRequest, call) in
                try module.userInfo(style: request.style ?? 1, color: request.color ?? .green)
            },
            Route(
                "user/:name/posts", action: "posts", access: .public,
                summary: "What a user wrote, newest first, \(UserPosts.pageSize) a page.",
                when: \PostsRequest.isPage
            ) { (module, request: PostsRequest, call) in
                try module.posts(of: request.name, page: request.page ?? 1)
            },
            Route("post", access: .authorized, summary: "Posts a text for the user.") {
                (module, request: PostRequest, call) in
                try module.post(request.text)
            },
            Route("signIn", access: .local, summary: "Signs a user in.") {
                (module, request: SignInRequest, call) in
                try module.signIn(request.name)
            },
            Route("signOut", access: .local, summary: "Signs the user out.") { (module, call) in
                try module.signOut()
            },
            Route("signedInUser", access: .local, summary: "The name of the user, or null.") {
                (module, call) in try module.signedInUser
            },
            Route("postCount", access: .local, summary: "How many posts a user wrote.") {
                (module, request: SignInRequest, call) in try module.postCount(of: request.name)
            },
        ]
    }
}

/// The reply to `userInfo`.
public struct UserInfo: Encodable, Hashable, Sendable {
    /// The possible colors of the page.
    public enum Color: String, Codable, Sendable, CaseIterable {
        case red, orange, yellow, green, blue, violet
    }

    /// The user who is signed in, or nil.
    public let user: String?
    /// The number of posts of the user.
    public let posts: Int
    /// The number of the page's layout.
    public let style: Int
    /// The page's color.
    public let color: Color
    /// The address of the page on the web.
    public let url: String
}

/// The reply to `user/:name/posts`: one page of the posts of a user.
public struct UserPosts: Encodable, Hashable, Sendable {
    /// The number of posts on a page, except the last one.
    static let pageSize = 20

    /// The author of the posts.
    public let author: String
    /// The number of posts on all pages.
    public let count: Int
    /// The posts of this page, newest first; none beyond the last page.
    public let posts: [String]
    /// The address of the page on the web.
    public let url: String
}
