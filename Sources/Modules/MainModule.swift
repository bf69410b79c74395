public import ModuleHost

/// The main module: supplies the root, the URL that is opened at the end of launch.
///
/// | setting | | default |
/// |---|---|---|
/// | `root` | the URL to open | none is opened |
public final class MainModule: RootProvider, ConfiguredModule {
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let root: RootURL?
    }

    /// The URL that is opened at the end of launch; nil where the app has nothing to show.
    public let root: String?

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings.
    /// - Throws: ``JSONError`` where they are not what they should be.
    public init(context: ModuleContext) throws {
        root = try context.config(Configuration.self).root?.text
    }
}

/// A URL as far as it is looked at before the router sees it: it has a scheme.
struct RootURL: Decodable, Hashable, Sendable {
    let text: String

    /// Reads a URL from settings.
    ///
    /// - Parameter decoder: Where to read from.
    /// - Throws: Where it is no string, or has no scheme.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = try value.decode(String.self)
        guard URLParts(text) != nil else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a URL begins with a scheme, such as slate://")
        }
    }
}
