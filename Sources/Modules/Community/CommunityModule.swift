public import ModuleHostCore

/// A business module: users sign in and post; their posts are requested by URL.
///
/// It shows the work of a module over the life of an app. Start-up work of each priority: `state` reads the
/// state saved by the last run, before the app launches; `index` prepares showing posts, once it has;
/// `backup` keeps a copy of the saved state, when there is nothing else to do. It answers ``routes`` with
/// their access; provides ``UserDirectory``; receives the topics `user.signed-in` (`{"name": …}`),
/// `user.signed-out` and `user.posted` (`{"text": …}`); notifies other modules through ``SignInResponder``;
/// saves when the app goes to the background, and drops its cache when memory runs short.
///
/// | setting | | default |
/// |---|---|---|
/// | `domain` | the web site of its pages | `domain` of the app's config |
public final class CommunityModule: LaunchResponder, MessageResponder, BackgroundResponder,
    TerminationResponder, MemoryWarningResponder, ConfiguredModule, ServiceProvider, TopicListener
{
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let domain: WebSite?
    }

    /// The services of the module.
    public static var services: [Any.Type] { [(any UserDirectory).self] }

    /// The façades of the services, which other modules use.
    public static var facades: [any ServiceFacade.Type] { [UserDirectoryFacade.self] }

    private let context: ModuleContext
    private let userInfoPage: SitePage
    private let postsPage: SitePage
    private let path: String
    /// The state that is kept from run to run; nil until it is read.
    ///
    /// It stays nil where that fails, so that an unreadable file is not overwritten.
    private var state: CommunityState? { didSet { revision += 1 } }
    /// Whether a call has tried to read the state.
    private var hasRead = false
    /// The number of changes of the state.
    private var revision = 0
    private var savedRevision = 0
    private var index: PostIndex?

    /// Reads the settings, and registers the work to do at start-up.
    ///
    /// - Parameter context: The module's settings, and the services of the host.
    /// - Throws: ``JSONError`` where the settings are not valid, and an error of its own where there is no
    ///   domain at all.
    public init(context: ModuleContext) throws {
        self.context = context
        let own = try context.config(Configuration.self).domain
        let shared = try context.appConfig([String: JSONValue].self)["domain"]
        guard let site = try own ?? shared?.decode(WebSite.self) else {
            throw CommunityError.noDomain
        }
        userInfoPage = try site.page("userInfo")
        postsPage = try site.page("user/:name/posts")
        let path = "\(context.stateDirectory)/\(context.id).json"
        self.path = path

        // The work runs off the lane and captures values, never the module.
        try context.startup("state", priority: .high) {
            try CommunityState.read(from: path)
        } then: { state in
            self.take(state)
        }
        try context.startup("backup", priority: .low, after: ["state"]) {
            try CommunityFile.backUp(path)
        }
    }

    /// Sorts the posts by author, in parallel to the launch.
    ///
    /// - Parameter launch: The circumstances of the launch.
    /// - Throws: ``StartupError`` where the start-up queue takes no more tasks.
    public func didFinishLaunching(_ launch: Launch) throws {
        guard let posts = state?.posts else { return }
        let revision = revision
        try context.startup("index") {
            PostIndex(posts)
        } then: { index in
            // Posts that arrived meanwhile are not in it: then it is built when it is needed.
            if self.revision == revision { self.index = index }
        }
    }

    // MARK: Calls

    func userInfo(style: Int, color: UserInfo.Color) throws -> UserInfo {
        let user = try loadedState().user
        return UserInfo(
            user: user, posts: try user.map(postCount) ?? 0, style: style, color: color,
            url: try userInfoPage.address(["style": "\(style)", "color": color.rawValue]))
    }

    func posts(of author: String, page: Int) throws -> UserPosts {
        let posts = try posts(of: author)
        let pageCount = (posts.count + UserPosts.pageSize - 1) / UserPosts.pageSize
        let isThere = page >= 1 && page <= pageCount
        let newer = isThere ? (page - 1) * UserPosts.pageSize : posts.count
        return UserPosts(
            author: author, count: posts.count,
            posts: posts.dropLast(newer).suffix(UserPosts.pageSize).reversed().map(\.text),
            url: try postsPage.address(["name": author, "page": "\(page)"]))
    }

    var signedInUser: String? { get throws { try loadedState().user } }

    func postCount(of author: String) throws -> Int { try posts(of: author).count }

    private func posts(of author: String) throws -> [CommunityState.Post] {
        let index = try index ?? PostIndex(loadedState().posts)
        self.index = index
        return index.posts(of: author)
    }

    // MARK: Messages

    /// The topics with which other parts of the app report on users.
    public static var topics: [String] { ["user.*"] }

    /// Handles an action of a user.
    ///
    /// - Parameter message: The message.
    /// - Throws: An error where the message lacks a member, or is not valid in the current state.
    public func receive(_ message: Message) throws {
        switch message.topic {
        case "user.signed-in": try signIn(message.text("name"))
        case "user.signed-out": try signOut()
        case "user.posted": try post(message.text("text"))
        default: break  // `user.*` is open to others.
        }
    }

    func signIn(_ name: String) throws {
        guard !name.isEmpty else { throw CommunityError.empty("name") }
        guard try loadedState().user != name else { return }
        state?.user = name
        context.log.info("a user signed in")
        context.center.send(to: (any SignInResponder).self) { try $0.didSignIn(name: name) }
    }

    func signOut() throws {
        guard try loadedState().user != nil else { return }
        state?.user = nil
        context.log.info("the user signed out")
        context.center.send(to: (any SignInResponder).self) { try $0.didSignOut() }
    }

    func post(_ text: String) throws {
        guard !text.isEmpty else { throw CommunityError.empty("text") }
        guard let author = try loadedState().user else { throw CommunityError.nobodySignedIn }
        let post = CommunityState.Post(author: author, text: text)
        let isOldestGone = state?.add(post) == true
        if isOldestGone { index = nil } else { index?.add(post) }
    }

    private func loadedState() throws -> CommunityState {
        if let state { return state }
        // A lazy module may be called before its start-up task has read the file. Once: the file may be large.
        defer { hasRead = true }
        guard !hasRead, let read = try? CommunityState.read(from: path) else {
            throw CommunityError.notRead(path)
        }
        take(read)
        return read
    }

    private func take(_ read: CommunityState) {
        guard state == nil else { return }
        state = read
        savedRevision = revision
    }

    // MARK: Saving

    /// Saves changes: in the background an app may be ended at any time.
    ///
    /// - Throws: ``FileError`` where that fails; the next time tries again.
    public func didEnterBackground() throws { try save() }

    /// Saves changes that were made while the app was in the background.
    ///
    /// - Throws: ``FileError`` where that fails.
    public func willTerminate() throws { try save() }

    private func save() throws {
        guard let state, revision != savedRevision else { return }
        try writeFile(state.json, to: path, mode: 0o600, synchronized: true)
        savedRevision = revision
    }

    /// Drops the index, which can be recreated.
    public func didReceiveMemoryWarning() { index = nil }
}

extension Message {
    /// Returns the text of the payload's member that the topic requires.
    fileprivate func text(_ key: String) throws -> String {
        guard let text = payload?[key]?.string, !text.isEmpty else {
            throw CommunityError.message(topic: topic, needs: key)
        }
        return text
    }
}
