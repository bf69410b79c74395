public import ModuleHost

/// Shows pages of the web, and as the slatefile's `fallback` whatever no other module answers.
///
/// Showing is another program's business, as fetching is: this module says which URL is on, and
/// remembers what it was asked to show. Any caller may ask; only one that has a token, or is a module of this
/// app, may look into the history.
///
/// The history is that of this run, newest first. A URL that is asked for again while it is the newest
/// is there once, so a repeated request changes nothing; one that was shown in between is there twice.
/// URLs stand in it as they were routed: rewritten, and without their token. When it is full the oldest
/// goes. A memory warning leaves it alone, since it cannot be made again.
///
/// Give it the last place in the slatefile: a short form `scheme://anything` is offered to each module in
/// turn, and this one takes them all.
///
/// | setting | | default |
/// |---|---|---|
/// | `history` | how many URLs it remembers, 0 to 10 000 | 100 |
public final class BrowserModule: RoutedModule, ConfigurationResponder, ConfiguredModule {
    /// The module's settings.
    public struct Configuration: Decodable, Sendable {
        let history: HistoryLimit?
    }

    struct HistoryRequest: Decodable, Sendable {
        var count: UInt?
    }

    private let context: ModuleContext
    private(set) var history: BrowserHistory

    /// Reads the settings.
    ///
    /// - Parameter context: The module's settings and its log.
    /// - Throws: ``JSONError`` where the settings are not what they should be.
    public init(context: ModuleContext) throws {
        self.context = context
        history = BrowserHistory(limit: try Self.limit(in: context))
    }

    /// The routes: `https://*` and `*` show a page and are public; `history` needs a token.
    public static var routes: [Route<BrowserModule>] {
        [
            Route("https://*", access: .public, summary: "Shows a page of the web.") {
                (module, call) in
                try module.show(call.url)
            },
            Route("*", access: .public, summary: "Shows what nothing else answers.") {
                (module, call) in
                try module.show(call.url)
            },
            Route(
                "history", access: .authorized, summary: "What was shown: the newest 100 URLs."
            ) {
                (module, request: HistoryRequest, call) in
                module.history.visits(newest: Int(clamping: request.count ?? 100))
            },
        ]
    }

    private func show(_ url: RouteURL?) throws -> ShownPage {
        guard let url else { throw NothingToShow() }
        history.add(url.text)
        // Where people go is as private as the history is.
        context.log.info("shows a page; history: \(history.count)")
        return ShownPage(shown: url.text)
    }

    /// Takes new settings; what is too much for them is forgotten, oldest first.
    ///
    /// - Parameter change: The settings that hold now.
    /// - Throws: ``JSONError`` where they are not what they should be; the old ones then hold.
    public func configurationDidChange(_ change: ConfigurationChange) throws {
        history.limit = try Self.limit(in: context)
    }

    private static func limit(in context: ModuleContext) throws -> Int {
        try context.config(Configuration.self).history?.count ?? 100
    }
}

/// The reply to a URL that is shown.
public struct ShownPage: Encodable, Hashable, Sendable {
    /// The URL, as it was routed and without its token.
    public let shown: String
}

/// A page was asked for by the name of its route, which does not say which page.
struct NothingToShow: Error, Hashable, CustomStringConvertible {
    var description: String { "nothing to show: open the URL of the page" }
}
