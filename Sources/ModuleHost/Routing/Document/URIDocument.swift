/// The URI document: the URLs that an app answers, taken from its typed routes.
package struct URIDocument: Sendable {
    /// The format of the document.
    package enum Format: String, Hashable, Sendable, CaseIterable, Decodable {
        /// For a terminal.
        case text
        /// For programs: see ``URIDocument/write(to:)``.
        case json
        /// For a repository: tables in GitHub's dialect.
        case markdown
        /// For a browser: one page that needs nothing else.
        case html
    }

    /// One route.
    package struct Route: Hashable, Sendable {
        package var module: String
        package var pattern: String
        /// The action's name for calls without a URL.
        package var action: String
        package var access: RouteAccess
        package var summary: String
        /// The parameters of the path in its order, then those of the query.
        package var parameters: [Parameter]
        /// Whether there may be more parameters, because the request's type did not ask for all of them.
        package var isPartial: Bool
        /// The type of the reply as it is written in Swift; nil where there is none.
        package var reply: String?
        /// Whether the answer may come after the handler has returned; no synchronous call can wait for it.
        package var answersLater: Bool
        /// The longest time until such an answer; nil for `deadlines.call` of the slatefile.
        package var deadline: Duration?
        /// A URL that this route answers; nil where none was found.
        package var example: String?
    }

    /// One parameter of a route.
    package struct Parameter: Hashable, Sendable {
        package enum Place: String, Hashable, Sendable {
            case path
            case query
        }

        package var name: String
        package var place: Place
        /// The type as it is written in Swift; nil where the request does not ask for it.
        package var type: String?
        /// The expected value, such as `a whole number`.
        package var expectation: String
        /// All possible values, if the type is an enum; empty for any other.
        package var values: [String]
        package var isRequired: Bool
        /// Whether the parameter takes several values.
        package var isList: Bool
    }

    package let app: String
    package let schemes: [String]
    package let fallback: String?
    /// The modules whose calls go to another URL when they have failed.
    package let instead: [TakenInstead]
    /// The modules that list their routes, or more of them, when they run.
    package let incomplete: [String]
    /// The routes, in the order of the slatefile and, for one module, in the order of its list.
    package let routes: [Route]

    /// Describes the routes of a table.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - app: The app's name.
    ///   - incomplete: The modules that list their routes, or more of them, when they run.
    package init(_ table: RouteTable, app: String, incomplete: [ModuleID] = []) {
        self.app = app
        self.incomplete = incomplete.map(\.text)
        schemes = table.schemes
        fallback = table.fallback?.text
        instead = table.modules.compactMap { module in
            table.instead?[module].map { TakenInstead(module: module, url: $0.text) }
        }
        routes = table.routes.map { entry in
            let request = entry.route.request
            return Route(
                module: entry.module.text, pattern: entry.route.pattern.text,
                action: entry.route.action, access: entry.route.access,
                summary: entry.route.summary, parameters: entry.route.parameters(of: request),
                isPartial: !request.isComplete,
                reply: entry.route.replyType.map(swiftSpelling),
                answersLater: entry.route.answersLater,
                deadline: entry.route.handler.later?.deadline,
                example: table.exampleURL(of: entry, request))
        }
    }

    /// The routes, module by module.
    var modules: [(id: String, routes: ArraySlice<Route>)] {
        var result: [(id: String, routes: ArraySlice<Route>)] = []
        for (index, route) in routes.enumerated() {
            if result.last?.id == route.module {
                result[result.count - 1].routes.append(route)
            } else {
                result.append((route.module, routes[index...index]))
            }
        }
        return result
    }

    /// The number of routes in words, such as `3 routes of 2 modules`.
    var count: String {
        let modules = modules.count
        return "\(routes.count) \(routes.count == 1 ? "route" : "routes") of "
            + "\(modules) \(modules == 1 ? "module" : "modules")"
    }

    /// Returns the whole document in a format.
    package func rendered(as format: Format) -> String {
        switch format {
        case .text: return text
        case .json:
            var json = JSONWriter(capacity: 4096)
            write(to: &json)
            json.newline()
            return String(decoding: json.bytes, as: UTF8.self)
        case .markdown: return markdown
        case .html: return html
        }
    }
}

extension URIDocument.Route {
    /// The note on an answer that comes later, such as `answers later, within 10s`; nil for any other.
    var lateness: String? {
        guard answersLater else { return nil }
        return "answers later" + (deadline.map { ", within \($0.briefText)" } ?? "")
    }
}

extension AnyRoute {
    /// Returns the names of the path, then the other parameters that the request asks for or the pattern
    /// declares.
    fileprivate func parameters(of request: RequestDescription) -> [URIDocument.Parameter] {
        let fields = request.fields
        let inPath = pattern.names
        let others = (fields.map(\.name) + pattern.queryNames).filter { !inPath.contains($0) }
        var names: [String] = []
        for name in inPath + others where !names.contains(name) { names.append(name) }
        return names.map { name in
            let field = fields.first { $0.name == name }
            let isRest = pattern.variants.contains { $0.binding.rest?.name == name }
            return URIDocument.Parameter(
                name: name, place: inPath.contains(name) ? .path : .query,
                type: field.map { swiftSpelling($0.type) },
                expectation: field?.expectation ?? (isRest ? "any number of segments" : "text"),
                values: field?.values ?? [],
                isRequired: field.map { !$0.isOptional } ?? pattern.alwaysBinds(name),
                isList: field?.isList ?? isRest)
        }
    }
}

extension RoutePattern {
    /// Returns whether each URL that matches has a value for the name; a catch-all may have none.
    fileprivate func alwaysBinds(_ name: String) -> Bool {
        variants.allSatisfy { $0.binding.names.contains(name) }
    }
}

/// Returns the type in its usual spelling: `[Post]` for `Array<Post>`, `Post?` for `Optional<Post>`.
package func swiftSpelling(_ type: String) -> String {
    for (prefix, before, after) in [("Array<", "[", "]"), ("Optional<", "", "?")]
    where type.hasPrefix(prefix) && type.hasSuffix(">") {
        let inner = type.dropFirst(prefix.count).dropLast()
        return before + swiftSpelling(String(inner)) + after
    }
    return type
}
