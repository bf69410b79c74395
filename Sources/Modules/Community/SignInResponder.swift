/// A module, or any other member of the app's center, that is notified of sign-ins and sign-outs.
///
/// A typed message of ``CommunityModule``'s own. Modules that know this target conform to it; the host has no
/// knowledge of it.
///
/// - Order: Slatefile order.
/// - Thread: The lane.
/// - Failure: Throwing is reported, and the other responders still receive the message.
public protocol SignInResponder {
    /// Notifies the responder that another user than before is signed in.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: Any error; it is reported under the module's name.
    func didSignIn(name: String) throws

    /// Notifies the responder that the user has signed out.
    ///
    /// - Throws: Any error; it is reported under the module's name.
    func didSignOut() throws
}
