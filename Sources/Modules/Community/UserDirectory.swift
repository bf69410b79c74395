/// The users and their posts: the service of ``CommunityModule``.
///
/// It lives in the module, and is called there:
///
/// ```swift
/// let user = try context.services.call((any UserDirectory).self) { try $0.signedInUser }
/// ```
///
/// - Failure: Throws where the state could not be read at start-up.
public protocol UserDirectory {
    /// The user who is signed in, or nil.
    ///
    /// - Throws: An error where that is not known.
    var signedInUser: String? { get throws }

    /// Returns the number of stored posts of a user.
    ///
    /// - Parameter author: The user's name.
    /// - Returns: The number; 0 for a user that is not known.
    /// - Throws: An error where that is not known.
    func postCount(of author: String) throws -> Int
}
