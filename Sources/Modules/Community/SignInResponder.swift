/// Something that cares who is signed in: a module, or any other member of the app's center.
///
/// A typed message of ``CommunityModule``'s own. Modules that know this target conform to it; the host
/// knows nothing of it.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Failure: Throwing is reported and does not keep the message from the others.
public protocol SignInResponder {
    /// Tells that another user than before is signed in.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: Any error; it is reported under the module's name.
    func didSignIn(name: String) throws

    /// Notifies the responder that the user has signed out.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didSignOut() throws
}
