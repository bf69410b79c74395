/// The settings that a module receives when the slatefile was read again.
public struct ConfigurationChange: Sendable {
    /// The module's own `config` now; nil where the slatefile gives none.
    public var config: JSONValue?

    /// The app's `config` now; nil where the slatefile gives none.
    public var appConfig: JSONValue?

    /// Whether the text of either differs from what this module was last told.
    public var isChanged: Bool
}
