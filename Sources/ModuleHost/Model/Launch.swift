/// What a module is told when the app launches.
public struct Launch: Hashable, Sendable {
    /// Who caused the launch: ``Origin/host`` unless an event did.
    public var origin: Origin

    /// The slatefile's `app`: the name of this app.
    public var app: String

    /// Creates the account of a launch.
    public init(origin: Origin, app: String) {
        self.origin = origin
        self.app = app
    }
}
