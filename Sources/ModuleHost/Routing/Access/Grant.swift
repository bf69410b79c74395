/// The routes that a token lets a remote caller reach beyond the public ones.
package struct Grant: Hashable, Sendable {
    /// The name of the token's owner, for logs.
    package let name: String
    /// Its scopes; never empty.
    package let scopes: [Scope]

    /// The calls that a token covers: those whose canonical URL matches a pattern.
    package struct Scope: Hashable, Sendable {
        /// The pattern: absolute, without query parameters.
        package let pattern: RoutePattern
        /// Whether its scheme is one of the app's, each of which stands for all of them.
        let isOfApp: Bool

        init(_ pattern: RoutePattern, appSchemes: [String]) {
            self.pattern = pattern
            isOfApp = pattern.scheme.map(appSchemes.contains) ?? false
        }
    }

    /// Returns whether one of the scopes covers a call.
    ///
    /// - Parameter undecided: The result for a call whose parameters build no URL.
    /// - Returns: Whether it is covered.
    func covers(
        _ entry: RouteTable.Entry, _ parameters: RouteParameters, undecided: Bool = false
    ) -> Bool {
        guard let call = CanonicalCall(entry, parameters) else { return undecided }
        return scopes.contains { scope in
            scope.covers(call.scheme)
                && scope.pattern.variants.contains { variant in
                    variant.ranks(of: call.segments, isFirstFolded: call.hasAuthority) != nil
                }
        }
    }

    /// Returns whether the scopes cover every call of the route.
    ///
    /// May return false where several scopes do so only together.
    func coversAll(of entry: RouteTable.Entry) -> Bool {
        let pattern = entry.route.pattern
        let prefix = pattern.isAbsolute ? [] : [RoutePattern.Segment.literal(entry.canonicalModule)]
        return pattern.variants.allSatisfy { variant in
            scopes.contains { scope in
                scope.covers(pattern.scheme)
                    && scope.pattern.variants.contains { $0.includes(prefix + variant.segments) }
            }
        }
    }
}

extension Grant.Scope {
    /// Returns whether the scope applies to a scheme; nil stands for those of the app.
    fileprivate func covers(_ scheme: String?) -> Bool {
        scheme == nil ? isOfApp : scheme == pattern.scheme
    }
}

/// A call in the form that scopes compare: with the route's own words, whatever the spelling of the URL.
///
/// For a relative route it is `scheme://moduleID/segments`, whether the URL named the module or not; for an
/// absolute one it is the URL. A literal is the pattern's: a URL's authority may match it in another case,
/// and `User` is another route than `user`.
private struct CanonicalCall {
    /// The scheme; nil for any of the app's.
    let scheme: String?
    let segments: [[UInt8]]
    /// Whether the first segment compares without case.
    let hasAuthority: Bool

    /// - Returns: Nil where the call has no URL, and its parameters build none.
    init?(_ entry: RouteTable.Entry, _ parameters: RouteParameters) {
        let pattern = entry.route.pattern
        let path: [[UInt8]]
        var hasAuthority = true
        if let match = parameters.match {
            guard let variant = pattern.variants.first(where: { $0.binding === match.binding })
            else { return nil }
            path = variant.segments(of: match.url, from: match.first)
            hasAuthority = match.url.hasAuthority
        } else {
            guard let built = pattern.path(parameters, of: entry.module) else { return nil }
            path = built
        }
        scheme = pattern.scheme
        segments = pattern.isAbsolute ? path : [entry.canonicalModule] + path
        self.hasAuthority = hasAuthority || !pattern.isAbsolute
    }
}

extension RouteTable.Entry {
    /// The module as the authority of its URLs.
    fileprivate var canonicalModule: [UInt8] { folded(Array(module.text.utf8)) }
}

extension RoutePattern {
    /// Returns the segments of the URL that the parameters build, or nil where they build none.
    fileprivate func path(_ parameters: RouteParameters, of module: ModuleID) -> [[UInt8]]? {
        let bound = parameters.all.filter { given in names.contains { isSameText($0, given.name) } }
        let values = RouteParameters(list: bound)
        let text = isAbsolute ? try? url(values) : try? url(values, scheme: "app", module: module)
        guard let text, let url = try? RouteURL(text) else { return nil }
        return url.withBytes { bytes in
            ((isAbsolute ? 0 : 1)..<url.segmentCount).map { Array(bytes.bytes(of: url.spans[$0])) }
        }
    }
}

extension RoutePattern.Variant {
    /// Returns the segments of a URL that this matches from `first` on: the pattern's own literals and
    /// suffixes, and the URL's text for everything else.
    fileprivate func segments(of url: RouteURL, from first: Int) -> [[UInt8]] {
        url.withBytes { bytes in
            var result: [[UInt8]] = []
            for (index, segment) in segments.enumerated() {
                switch segment {
                case .literal(let literal): result.append(literal)
                case .placeholder(let suffix, _):
                    let text = bytes.bytes(of: url.spans[first + index])
                    result.append(text.dropLast(suffix.count) + suffix)
                case .rest:
                    for place in (first + index)..<url.segmentCount {
                        result.append(Array(bytes.bytes(of: url.spans[place])))
                    }
                }
            }
            return result
        }
    }

    /// Returns whether this matches every URL that `others` match.
    fileprivate func includes(_ others: [RoutePattern.Segment]) -> Bool {
        for (index, segment) in segments.enumerated() {
            if segment == .rest { return true }
            guard index < others.count, segment.includes(others[index]) else { return false }
        }
        return segments.count == others.count
    }
}

extension RoutePattern.Segment {
    fileprivate func includes(_ other: RoutePattern.Segment) -> Bool {
        switch (self, other) {
        case (.literal(let literal), .literal(let other)): literal == other
        case (.placeholder(let suffix, let type), .literal(let other)):
            other.count > suffix.count && other.suffix(suffix.count) == suffix[...]
                && type?.reads(other.dropLast(suffix.count)) ?? true
        case (.placeholder(let suffix, let type), .placeholder(let other, let otherType)):
            // Text of a type is taken by a placeholder of the same type and suffix, and by one without a type.
            other.suffix(suffix.count) == suffix[...]
                && (type == nil || type == otherType && suffix == other)
        case (.literal, .placeholder), (.literal, .rest), (.placeholder, .rest), (.rest, _): false
        }
    }
}
