public import ModuleHostCore

/// A module that shows pages of the web and, as the slatefile's `fallback`, all URLs that no other module
/// answers.
///
/// Displaying and fetching are tasks of another program: this module states the current URL, and remembers
/// the requested ones. Any caller may request a page; only one with a token, or a module of this app, may
/// read the history.
///
/// The history is that of this run, newest first. A URL that is requested again while it is the newest is
/// listed once, so a repeated request changes nothing; one with others in between is listed twice. URLs are
/// listed as they were routed: rewritten, and without their token. When the history is full the oldest is
/// dropped. A memory warning does not affect it, since it cannot be recreated.
///
/// Give it the last place in the slatefile: a short form `scheme://anything` is offered to each module in
/// turn, and this one takes them all.
///
/// | setting | | default |
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
    /// - Throws: ``JSONError`` where the settings are not valid.
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
        // The pages that people visit are as private as the history is.
        context.log.info("shows a page; history: \(history.count)")
        return ShownPage(shown: url.text)
    }

    /// Applies new settings; URLs beyond the new limit are dropped, oldest first.
    ///
    /// - Parameter change: The current settings.
    /// - Throws: ``JSONError`` where they are not valid; the old ones then stay in effect.
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

/// The error for a page that was requested by the name of its route, which does not name the page.
struct NothingToShow: Error, Hashable, CustomStringConvertible {
    var description: String { "nothing to show: open the URL of the page" }
}
