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
        if let id = url.authority, let error = leftOut?.error(for: id) { return error }
        return .notFound(url: url.withoutQuery, nearest: nearest(to: url, where: isReachable))
    }

    /// Returns whether a module has a route that the caller can reach.
    package func hasRoute(of module: String, where isReachable: (Entry) -> Bool) -> Bool {
        guard let position = contents.position(of: ModuleID(checked: module)) else { return false }
        return routes(at: position).contains(where: isReachable)
    }

    /// Returns the module with the most similar id, of those that have a route the caller can reach.
    package func nearestModule(
        to id: String, where isReachable: (Entry) -> Bool
    ) -> ModuleID? {
        var seen: Set<ModuleID> = []
        var ids: [String] = []
        for entry in contents.entries where isReachable(entry) {
            guard ids.count < Self.nearestLimit else { break }
            if seen.insert(entry.module).inserted { ids.append(entry.module.text) }
        }
        return nearestName(to: id, in: ids).map { ModuleID(checked: $0) }
    }

    private func nearest(to url: RouteURL, where isReachable: (Entry) -> Bool) -> String? {
        if let id = url.authority, storage.isModuleMisspelt(by: url, where: isReachable) {
            let module = nearestModule(to: id, where: isReachable)
            return module.map { nearest(to: url, of: $0, where: isReachable) }
        }
        return nearestOfAll(to: url, where: isReachable)
    }

    /// Returns the route of a module that a URL with a misspelt id means, or the URL of the module.
    private func nearest(
        to url: RouteURL, of module: ModuleID, where isReachable: (Entry) -> Bool
    ) -> String {
        let base = "\(url.scheme)://\(module)"
        let path = url.segments.dropFirst().map {
            var bytes: [UInt8] = []
            bytes.append(percentEncoding: $0.utf8)
            return String(decoding: bytes, as: UTF8.self)
        }
        guard let meant = try? RouteURL(([base] + path).joined(separator: "/")) else { return base }
        if let match = try? match(meant, where: { entry, _ in isReachable(entry) }),
            match.entry.module == module
        {
            let pattern = match.entry.route.pattern
            if pattern.isAbsolute { return pattern.text }
            return pattern.text == "/" ? base : "\(base)/\(pattern.text)"
        }
        return nearestOfAll(to: meant) { $0.module == module && isReachable($0) } ?? base
    }

    private func nearestOfAll(to url: RouteURL, where isReachable: (Entry) -> Bool) -> String? {
        let segments = url.segments
        let isNamed = storage.isModuleNamed(by: url)
        let scheme = schemes.first ?? ""
        var filled: [String] = []
        var written: [String: String] = [:]

        func offer(_ pattern: RoutePattern, _ prefix: String, _ segments: ArraySlice<String>) {
            for variant in pattern.variants where variant.segments.count == segments.count {
                // A pattern that takes any text resembles every URL.
                guard variant.segments.contains(where: \.isLiteral) else { continue }
                let text = prefix + Self.fill(variant, segments)
                if written[text] != nil { continue }
                written[text] = pattern.isAbsolute ? pattern.text : prefix + pattern.text
                filled.append(text)
            }
        }
        for entry in contents.entries where isReachable(entry) {
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
            case .placeholder(let suffix, _) where suffix.isEmpty: own
            case .placeholder(let suffix, _):
                own.utf8.suffix(suffix.count).elementsEqual(suffix)
                    ? own : own + String(decoding: suffix, as: UTF8.self)
            case .rest: own
            }
        }.joined(separator: "/")
    }
}

extension RoutePattern {
    /// Returns the reason why a URL does not match an absolute pattern of the same words, such as
    /// `'ten' is not an int`; nil where there is another reason.
    static func typeMismatch(of url: String, with text: String) -> String? {
        guard let segments = try? RouteURL(url).segments, let pattern = try? RoutePattern(text)
        else { return nil }
        for variant in pattern.variants where variant.segments.count == segments.count {
            for case (.placeholder(let suffix, let type?), let own) in zip(
                variant.segments, segments)
            {
                let bytes = Array(own.utf8)
                guard bytes.suffix(suffix.count).elementsEqual(suffix) else { continue }
                let value = bytes.dropLast(suffix.count)
                guard !type.reads(value) else { continue }
                let word = type == .int ? "an \(type.name)" : "a \(type.name)"
                return "\(quoted(String(decoding: value, as: UTF8.self))) is not \(word)"
            }
        }
        return nil
    }
}
