/// The settings that a module receives when the slatefile was read again.
public struct ConfigurationChange: Sendable {
    /// The current `config` of the module; nil where the slatefile gives none.
    public var config: JSONValue?

    /// The current `config` of the app; nil where the slatefile gives none.
    public var appConfig: JSONValue?

    /// Whether the text of either differs from the one that this module received last.
    public var isChanged: Bool
}
