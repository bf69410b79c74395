/// Who is signed in, and who wrote how much: the service of ``CommunityModule``.
///
/// It lives in the module, so it is called there:
///
/// ```swift
/// let user = try context.services.call((any UserDirectory).self) { try $0.signedInUser }
/// ```
///
/// - Failure: Throws where the state could not be read at start-up.
public protocol UserDirectory {
    /// Who is signed in; nil for nobody.
    ///
    /// - Throws: Where that is not known.
    var signedInUser: String? { get throws }

    /// How many posts of a user are kept.
    ///
    /// - Parameter author: The user's name.
    /// - Returns: The number; 0 for somebody who is not known.
    /// - Throws: Where that is not known.
    func postCount(of author: String) throws -> Int
}
