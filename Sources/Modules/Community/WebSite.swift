import ModuleHostCore

/// A web site from the settings, such as `https://www.example.com`.
struct WebSite: Decodable, Hashable, Sendable {
    /// The address, without a slash at the end.
    let address: String

    /// Reads a web site from settings.
    ///
    /// - Throws: An error where it is not a string, or not an address on the web.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        guard let url = try? RouteURL(text), ["https", "http"].contains(url.scheme),
            url.authority != nil, url.query.isEmpty, url.fragment == nil
        else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a web site is given as https://www.example.com")
        }
        address =
            url.withoutQuery.hasSuffix("/")
            ? String(url.withoutQuery.dropLast()) : url.withoutQuery
    }

    /// Makes a page of the site.
    func page(_ path: String) throws -> SitePage { try SitePage(site: self, path: path) }
}

/// A page of a web site, whose path has names for the values to fill in.
struct SitePage {
    // The first segment of an absolute pattern is its authority.
    private static let base = "x://x"

    private let site: WebSite
    private let pattern: RoutePattern

    fileprivate init(site: WebSite, path: String) throws {
        self.site = site
        pattern = try RoutePattern("\(Self.base)/\(path)")
    }

    /// Returns the address of the page.
    ///
    /// - Parameter values: The values; those without a place in the path go into the query.
    /// - Returns: The address, with all values encoded.
    /// - Throws: ``RouteError`` for a value that cannot be part of a path: one that is empty, `.` or `..`.
    func address(_ values: [String: String]) throws -> String {
        let url = try pattern.url(RouteParameters(values), queryNames: Array(values.keys))
        return site.address + url.dropFirst(Self.base.count)
    }
}
