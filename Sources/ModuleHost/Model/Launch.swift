/// The circumstances of a launch.
public struct Launch: Hashable, Sendable {
    /// The origin of the launch: ``Origin/host`` unless an event caused it.
    public var origin: Origin

    /// The slatefile's `app`: the name of this app.
    public var app: String

    /// Creates the circumstances of a launch.
    public init(origin: Origin, app: String) {
        self.origin = origin
        self.app = app
    }
}
