import ModuleHost

/// Shows pages, and remembers them.
public final class BrowserModule: RoutedModule {
    struct Page: Decodable, Sendable { var page: String }

    private var pages: [String] = []

    /// Creates the module.
    public init(context: ModuleContext) {}

    /// The calls of the module.
    public static var routes: [Route<BrowserModule>] {
        [
            Route("show/:page", action: "show", access: .public, summary: "Shows a page.") {
                (module, request: Page, call) in
                module.pages.append(request.page)
                return request.page
            },
            Route("history", access: .public, summary: "The pages that were shown.") {
                (module, call) in module.pages
            },
        ]
    }
}
