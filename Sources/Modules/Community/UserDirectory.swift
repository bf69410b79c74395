import ModuleHostCore

/// The users and their posts: the service of ``CommunityModule``.
///
/// ```swift
/// let directory = try context.services.resolve((any UserDirectory).self)
/// let user = try await directory.signedInUser()
/// ```
///
/// Its calls are those of routes of the community, so that it does not matter in which process that runs.
///
/// - Failure: Throws where the state could not be read at start-up, and ``RouteError`` where the community cannot
///   be called.
public protocol UserDirectory: Sendable {
    /// Returns the user who is signed in, or nil.
    ///
    /// - Returns: The user's name.
    /// - Throws: An error where that is not known.
    func signedInUser() async throws -> String?

    /// Returns the number of stored posts of a user.
    ///
    /// - Parameter author: The user's name.
    /// - Returns: The number; 0 for a user that is not known.
    /// - Throws: An error where that is not known.
    func postCount(of author: String) async throws -> Int
}

/// The service as calls of the community.
struct UserDirectoryFacade: ServiceFacade, UserDirectory {
    static let actions = ["signedInUser", "postCount"]
    private let provider: ProviderCalls

    init(_ provider: ProviderCalls) { self.provider = provider }

    var service: any UserDirectory { self }

    func signedInUser() async throws -> String? { try await provider.call("signedInUser") }

    func postCount(of author: String) async throws -> Int {
        try await provider.call("postCount", ["name": author])
    }
}
