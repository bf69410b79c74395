extension RouteTable {
    /// The number of routes that are compared with an unknown one, which limits the time that other callers
    /// wait.
    private static let nearestLimit = 256

    /// Returns the error for a URL that no route answers, with the nearest one that the caller can reach.
    ///
    /// - Parameters:
    ///   - url: The URL, without its token.
    ///   - isReachable: Returns whether the caller could reach a route.
    /// - Returns: ``RouteError/notFound(url:nearest:)``.
    package func notFound(
        _ url: RouteURL, where isReachable: (Entry) -> Bool
    ) -> RouteError {
        .notFound(url: url.withoutQuery, nearest: nearest(to: url, where: isReachable))
    }

    private func nearest(to url: RouteURL, where isReachable: (Entry) -> Bool) -> String? {
        let segments = url.segments
        let isNamed = storage.isModuleNamed(by: url)
        let scheme = schemes.first ?? ""
        var filled: [String] = []
        var written: [String: String] = [:]

        func offer(_ pattern: RoutePattern, _ prefix: String, _ segments: ArraySlice<String>) {
            for variant in pattern.variants where variant.segments.count == segments.count {
                let text = prefix + Self.fill(variant, segments)
                if written[text] != nil { continue }
                written[text] = pattern.isAbsolute ? pattern.text : prefix + pattern.text
                filled.append(text)
            }
        }
        for case let entry? in contents.entries where isReachable(entry) {
            let pattern = entry.route.pattern
            if let scheme = pattern.scheme {
                offer(pattern, "\(scheme)://", segments[...])
            } else {
                if !isNamed { offer(pattern, "\(scheme)://", segments[...]) }
                offer(pattern, "\(scheme)://\(entry.module)/", segments.dropFirst())
            }
            if filled.count >= Self.nearestLimit { break }
        }
        let wanted = "\(url.scheme)://" + segments.joined(separator: "/")
        return nearestName(to: wanted, in: filled).flatMap { written[$0] }
    }

    /// Returns a pattern with the URL's own segments for its placeholders, so that only literals count.
    private static func fill(_ variant: RoutePattern.Variant, _ segments: ArraySlice<String>)
        -> String
    {
        zip(variant.segments, segments).map { segment, own in
            switch segment {
            case .literal(let literal): String(decoding: literal, as: UTF8.self)
            case .placeholder(let suffix) where suffix.isEmpty: own
            case .placeholder(let suffix):
                own.utf8.suffix(suffix.count).elementsEqual(suffix)
                    ? own : own + String(decoding: suffix, as: UTF8.self)
            case .rest: own
            }
        }.joined(separator: "/")
    }
}
