public import ModuleHostCore

/// The community's actions with types, for modules that know this target.
///
/// A façade as any module may have one: it adds nothing to the calls but static types.
extension Mediator {
    /// Requests one page of the posts of a user, newest first.
    ///
    /// - Parameters:
    ///   - name: The user's name.
    ///   - page: The number of the page, from 1 on.
    /// - Returns: The page; without posts where there are none.
    /// - Throws: ``RouteError`` where the community cannot be called, or the page is not valid.
    public func posts(of name: String, page: Int = 1) throws -> UserPosts {
        try perform(communityID, "posts", ["name": name, "page": page], as: UserPosts.self)
    }

    /// Signs a user in.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: ``RouteError`` where the community cannot be called, and its own error for an empty name.
    public func signIn(_ name: String) throws {
        try perform(communityID, "signIn", ["name": name])
    }
}

/// The id of the community in a slatefile.
private let communityID = "com.mm.community"
