public import ModuleHost

/// The community's actions with types, for modules that know this target.
///
/// A façade as any module may have one: it adds nothing to the calls but what the compiler can check.
extension Mediator {
    /// One page of what a user wrote, newest first.
    ///
    /// - Parameters:
    ///   - name: The user's name.
    ///   - page: Which page, from 1 on.
    /// - Returns: The page; without posts where there are none.
    /// - Throws: ``RouteError`` where the community cannot be called, or there can be no such page.
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

/// The id that the community has in a slatefile.
private let communityID = "com.mm.community"
