extension RoutePattern {
    /// Builds the URL of an absolute pattern.
    ///
    /// Reading the result gives the same parameters back, whatever the strings. Where groups are optional,
    /// the longest form is built that the names allow.
    ///
    /// - Parameters:
    ///   - parameters: A value for each name of the path; any number for a catch-all and for the query
    ///     parameters that the pattern declares.
    ///   - queryNames: Query parameters beside those that the pattern declares.
    /// - Returns: The URL.
    /// - Throws: ``RouteError/building(pattern:_:)``: names that are missing or not used, and values that are
    ///   not possible at their place in a URL.
    public func url(
        _ parameters: RouteParameters, queryNames: [String] = []
    ) throws(RouteError) -> String {
        guard let scheme else { throw .building(pattern: text, .base) }
        return try build("\(scheme)://", parameters, queryNames, first: 0)
    }

    /// Builds the URL of a relative pattern, in its full form `scheme://module/path`.
    ///
    /// - Parameters:
    ///   - parameters: The values, as for ``url(_:queryNames:)``.
    ///   - scheme: A scheme of the app.
    ///   - module: The module that the pattern belongs to.
    ///   - queryNames: Query parameters beside those that the pattern declares.
    /// - Returns: The URL.
    /// - Throws: ``RouteError/building(pattern:_:)``.
    public func url(
        _ parameters: RouteParameters, scheme: String, module: ModuleID, queryNames: [String] = []
    ) throws(RouteError) -> String {
        guard !isAbsolute else { throw .building(pattern: text, .base) }
        return try build("\(scheme)://\(module)/", parameters, queryNames, first: 1)
    }

    private func build(
        _ base: String, _ parameters: RouteParameters, _ moreNames: [String], first: Int
    ) throws(RouteError) -> String {
        let given = parameters.all
        let path = given.filter { names.containsText($0.name) }
        let query = given.filter { !names.containsText($0.name) }
        try checkNames(of: query, moreNames)
        let variant = try variant(for: parameters)
        var bytes = Array(base.utf8)
        for (index, segment) in try segments(variant, parameters).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "/")) }
            bytes.append(percentEncoding: segment)
        }
        var separator = UInt8(ascii: "?")
        for (name, values) in query {
            for value in values {
                bytes.append(separator)
                bytes.append(percentEncoding: name.utf8)
                bytes.append(UInt8(ascii: "="))
                bytes.append(percentEncoding: value.utf8)
                separator = UInt8(ascii: "&")
            }
        }
        let built = String(decoding: bytes, as: UTF8.self)
        do throws(RouteURLError) {
            let url = try RouteURL(built)
            if reads(url, from: first, as: path, query) { return built }
        } catch {
            throw .building(pattern: text, .limit(error))
        }
        throw .building(pattern: text, .ambiguous)
    }

    private func checkNames(
        of query: [(name: String, values: [String])], _ moreNames: [String]
    ) throws(RouteError) {
        for (name, values) in query {
            guard [queryNames, moreNames].contains(where: { $0.containsText(name) }) else {
                let known = names + queryNames + moreNames
                throw .building(
                    pattern: text, .unused(name, nearest: nearestName(to: name, in: known)))
            }
            if values.isEmpty { throw .building(pattern: text, .missing(name)) }
        }
    }

    /// Returns whether a URL that was built is read as the same parameters of the path and the query, and no others.
    private func reads(
        _ url: RouteURL, from first: Int, as path: [(name: String, values: [String])],
        _ query: [(name: String, values: [String])]
    ) -> Bool {
        guard let read = parameters(of: url, from: first) else { return false }
        return read.boundNames.count == path.count
            && path.allSatisfy {
                read.boundNames.containsText($0.name) && read.values(of: $0.name) == $0.values
            }
            && url.hasItems(query)
    }

    /// Returns the longest variant that needs only names that are present, and uses all of them.
    private func variant(for parameters: RouteParameters) throws(RouteError) -> Variant {
        let given = names.filter { parameters.contains($0) }
        let fitting = variants.first { variant in
            let bound = variant.binding.names
            return bound.allSatisfy(given.contains) && given.allSatisfy(bound.contains)
        }
        if let fitting { return fitting }
        let missing = names.first { name in
            !given.contains(name) && variants.allSatisfy { $0.binding.names.contains(name) }
        }
        throw .building(
            pattern: text, .missing(missing ?? names.first { !given.contains($0) } ?? "*"))
    }

    private func segments(
        _ variant: Variant, _ parameters: RouteParameters
    ) throws(RouteError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var placeholders = variant.binding.placeholders[...]
        for segment in variant.segments {
            switch segment {
            case .literal(let literal): result.append(literal)
            case .placeholder(let suffix, let type):
                guard let name = placeholders.popFirst()?.name else { continue }
                let values = parameters.values(of: name) ?? []
                guard values.count == 1, let value = values.first else {
                    throw .building(pattern: text, .count(name, values.count))
                }
                if let type, !type.reads(value.utf8) {
                    throw .building(
                        pattern: text, .type(name, value: value, expected: type.expectation))
                }
                result.append(try self.segment(name, value, suffix))
            case .rest:
                let name = variant.binding.rest?.name ?? "*"
                for value in parameters.values(of: name) ?? [] {
                    result.append(try self.segment(name, value, []))
                }
            }
        }
        return result
    }

    private func segment(
        _ name: String, _ value: String, _ suffix: [UInt8]
    ) throws(RouteError) -> [UInt8] {
        let bytes = Array(value.utf8) + suffix
        if value.isEmpty || bytes == Array(".".utf8) || bytes == Array("..".utf8) {
            let segment = String(decoding: bytes, as: UTF8.self)
            throw .building(
                pattern: text, .segment(name, value: value.isEmpty ? value : segment))
        }
        return bytes
    }
}

extension RouteURL {
    /// Returns whether the query has these names, each with these values, in this order and nothing else.
    fileprivate func hasItems(_ expected: [(name: String, values: [String])]) -> Bool {
        withBytes { bytes in
            var item = bytes.segmentCount
            for (name, values) in expected {
                for value in values {
                    guard item < bytes.spans.count, bytes[item].isText(name),
                        bytes[item + 1].isText(value)
                    else { return false }
                    item += 2
                }
            }
            return item == bytes.spans.count
        }
    }
}

extension SegmentBytes {
    fileprivate func isText(_ text: String) -> Bool {
        text.withUTF8Bytes { equals(SegmentBytes($0), folding: false) }
    }
}

extension [String] {
    /// Returns whether there is a text with the same bytes.
    fileprivate func containsText(_ text: String) -> Bool {
        contains { isSameText($0, text) }
    }
}
