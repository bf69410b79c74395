public import ModuleHostCore

/// The main module: it provides the root, the URL that is opened at the end of launch.
///
/// The URL is opened as a call of this module, so it may be any route of the app.
///
/// | setting | | default |
/// |---|---|---|
/// | `root` | the URL to open | none is opened |
public final class MainModule: RootProvider, ConfiguredModule {
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let root: RootURL?
    }

    /// The URL that is opened at the end of launch; nil where the app has none.
    public let root: String?

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings.
    /// - Throws: ``JSONError`` where they are not valid.
    public init(context: ModuleContext) throws {
        root = try context.config(Configuration.self).root?.text
    }
}

/// A URL that can be routed, from the settings.
struct RootURL: Decodable, Hashable, Sendable {
    let text: String

    /// Reads a URL from settings.
    ///
    /// - Throws: An error where it is not a string, or is malformed.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = try value.decode(String.self)
        do throws(RouteURLError) {
            _ = try RouteURL(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "\(error)")
        }
    }
}
