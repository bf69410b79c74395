import ModuleHostCore

/// The state that a community keeps from one run to the next.
///
/// A value: work off the lane captures a copy.
struct CommunityState: Decodable, Equatable, Sendable {
    /// A text that a user posted.
    struct Post: Decodable, Equatable, Sendable {
        let author: String
        let text: String
    }

    /// The number of posts that are kept; older ones are dropped.
    static let postLimit = 1000

    /// The user who is signed in.
    var user: String?
    /// The posts, oldest first.
    private(set) var posts: [Post] = []

    /// Adds a post.
    ///
    /// - Returns: Whether an older one was dropped for it.
    mutating func add(_ post: Post) -> Bool {
        posts.append(post)
        guard posts.count > Self.postLimit else { return false }
        posts.removeFirst()
        return true
    }

    /// Reads the state that a run before this one saved.
    ///
    /// - Parameter path: The file; a missing one means that there is no state so far.
    /// - Throws: An error where the file cannot be read, or has another content.
    static func read(from path: String) throws -> CommunityState {
        guard let bytes = try CommunityFile.read(path) else { return CommunityState() }
        do {
            return try JSONValue(parsing: bytes).decode()
        } catch {
            throw CommunityError.broken(path)
        }
    }

    /// The state in the form of ``read(from:)``.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { state in
            if let user { state.member("user", user) }
            state.member("posts") { list in
                list.array { list in
                    for post in posts {
                        list.object {
                            $0.member("author", post.author)
                            $0.member("text", post.text)
                        }
                    }
                }
            }
        }
        writer.newline()
        return writer.bytes
    }
}

/// The posts by author, so that those of one author are found without a search through all.
///
/// A cache: it can be recreated from the posts at any time.
struct PostIndex: Sendable {
    private var byAuthor: [String: [CommunityState.Post]] = [:]

    init(_ posts: [CommunityState.Post]) {
        for post in posts { add(post) }
    }

    mutating func add(_ post: CommunityState.Post) {
        byAuthor[post.author, default: []].append(post)
    }

    /// Returns the posts of one author, oldest first.
    func posts(of author: String) -> [CommunityState.Post] { byAuthor[author] ?? [] }
}

/// The file of the state.
enum CommunityFile {
    /// Returns the content, or nil where there is no file.
    static func read(_ path: String) throws(FileReadError) -> [UInt8]? {
        do throws(FileReadError) {
            return try readFile(at: path, limit: 16 << 20, links: .own)
        } catch {
            if error.reason == .missing { return nil }
            throw error
        }
    }

    /// Keeps a copy beside the file, if there is one.
    static func backUp(_ path: String) throws {
        guard let bytes = try read(path) else { return }
        try writeFile(bytes, to: path + ".bak", mode: 0o600)
    }
}
