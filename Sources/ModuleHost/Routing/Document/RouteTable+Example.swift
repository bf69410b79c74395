extension RouteTable {
    /// Returns a URL that leads to a route, with parameters that its request accepts.
    ///
    /// The URL was opened against this table as a module would open it, up to the handler: so neither a
    /// rewrite nor another route comes before the route, and the route's predicate accepts the URL.
    ///
    /// - Returns: The URL; nil where none was found that works.
    func exampleURL(of entry: Entry, _ request: RequestDescription) -> String? {
        let pattern = entry.route.pattern
        // Each group may be present or not; a variant that works is among the first.
        for variant in pattern.variants.prefix(32) {
            let names = variant.binding.names
            for plan in ExamplePlan.all {
                let fields = request.fields.filter { field in
                    names.contains(field.name) || plan.takesOptionals || !field.isOptional
                }
                let parameters = RouteParameters(
                    list: Self.names(names, fields).map { name in
                        let field = fields.first { $0.name == name }
                        let isRest = variant.binding.rest?.name == name
                        let isHost = pattern.isAbsolute && variant.binding.nameOfFirst == name
                        if let type = variant.type(of: name) {
                            return (name, [plan.value(of: type)])
                        }
                        return (name, plan.values(of: name, field, isList: isRest, isHost: isHost))
                    })
                let queryNames = fields.map(\.name).filter { !pattern.names.contains($0) }
                if let url = url(of: entry, parameters, queryNames), leads(url, to: entry) {
                    return url
                }
            }
        }
        return nil
    }

    /// Returns the names that need values: not `token` of the query, which never reaches a route.
    private static func names(
        _ bound: [String], _ fields: [RequestDescription.Field]
    ) -> [String] {
        bound + fields.map(\.name).filter { !bound.contains($0) && $0 != "token" }
    }

    private func url(
        of entry: Entry, _ parameters: RouteParameters, _ queryNames: [String]
    ) -> String? {
        let pattern = entry.route.pattern
        if pattern.isAbsolute { return try? pattern.url(parameters, queryNames: queryNames) }
        return schemes.first.flatMap { scheme in
            try? pattern.url(
                parameters, scheme: scheme, module: entry.module, queryNames: queryNames)
        }
    }

    private func leads(_ text: String, to entry: Entry) -> Bool {
        guard let url = try? RouteURL(text).separatingToken().url,
            let match = try? match(url, where: { $0.route.accepts($1) })
        else { return false }
        return match.entry === entry && (try? entry.route.check(match.parameters)) != nil
    }
}

/// A plan for the values of an example; the next one is tried where no URL of it works.
private struct ExamplePlan {
    /// Whether optional parameters have values.
    let takesOptionals: Bool
    /// Whether a value may be chosen by the name of its parameter, and lists may have two.
    let isVivid: Bool
    /// The value of numbers: a predicate may want an even one, or a large one.
    let number: String

    static let all = ["1", "2", "100"].flatMap { number in
        [true, false].flatMap { takesOptionals in
            [true, false].map { isVivid in
                ExamplePlan(takesOptionals: takesOptionals, isVivid: isVivid, number: number)
            }
        }
    }

    func values(
        of name: String, _ field: RequestDescription.Field?, isList: Bool, isHost: Bool
    ) -> [String] {
        let isText = field.map { $0.type == "String" || $0.type == "Array<String>" } ?? true
        let isNumber = field.map { $0.example == "1" && $0.values.isEmpty } ?? false
        let plain = isNumber ? number : field?.example ?? "text"
        guard isVivid else { return [plain] }
        if isText, isHost { return ["www.example.com"] + (isList ? ["page"] : []) }
        let value = isText ? Self.value(named: name) ?? plain : plain
        guard isList || field?.isList == true else { return [value] }
        // Two values show how the parameter is repeated.
        if let values = field?.values, values.count > 1 { return Array(values.prefix(2)) }
        if isText { return ["first", "second"] }
        return isNumber ? [value, value + "0"] : [value]
    }

    func value(of type: SegmentType) -> String {
        switch type {
        case .int: number
        case .uuid: "0f8fad5b-d9cb-469f-a165-70867728950e"
        case .date: "2026-03-01"
        }
    }

    /// Returns a plausible value for a parameter of this name.
    private static func value(named name: String) -> String? {
        let name = name.lowercased()
        return switch name {
        case "name", "user", "username", "author": "mia"
        case "url", "uri", "link": "https://www.example.com/"
        case "email": "mia@example.com"
        case "color", "colour": "green"
        case "title", "text", "message", "q", "query": "hello"
        case "topic", "tag": "news"
        default: name.hasSuffix("id") ? "42" : nil
        }
    }
}

extension RoutePattern.Variant {
    /// Returns the type of the placeholder of this name, if it has one.
    fileprivate func type(of name: String) -> SegmentType? {
        let segment = binding.placeholders.first { $0.name == name }?.segment
        guard let segment, case .placeholder(_, let type) = segments[segment] else { return nil }
        return type
    }
}

extension RouteBinding {
    /// The name that is bound to the first segment; nil where there is none.
    fileprivate var nameOfFirst: String? {
        (placeholders.first ?? rest).flatMap { $0.segment == 0 ? $0.name : nil }
    }
}
