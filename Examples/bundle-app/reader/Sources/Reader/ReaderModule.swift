import ModuleHost

/// The articles of the reader.
public final class ReaderModule: RootProvider, RoutedModule {
    struct Article: Decodable, Sendable { var title: String }

    /// The URL that the app opens first.
    public let root: String? = "bundle://com.mm.reader/article/welcome"
    private let context: ModuleContext

    /// Creates the module.
    public init(context: ModuleContext) { self.context = context }

    /// The calls of the module.
    public static var routes: [Route<ReaderModule>] {
        [
            Route(
                "article/:title", action: "article", access: .public, summary: "Opens an article."
            ) {
                (module, article: Article, call) -> String in
                try module.context.mediator.perform(
                    "com.mm.browser", "show", ["page": article.title], as: String.self)
            }
        ]
    }
}
