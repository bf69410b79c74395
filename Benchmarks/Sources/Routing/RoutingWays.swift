import Foundation
import ModuleHost

/// A way from a URL's text to the values of its parameters.
protocol RoutingWay {
    init(_ sample: RoutingSample) throws
    /// Reads the URL, finds its pattern, and reads every placeholder's and query item's value as a string;
    /// returns how many bytes the values have.
    func answer(_ request: RoutingSample.Request) throws -> Int
}

struct WrongAnswer: Error {
    let url: String
}

/// The host's own.
struct TableWay: RoutingWay {
    final class Idle: Module {
        init(context: ModuleContext) {}
    }

    fileprivate let table: RouteTable

    init(_ sample: RoutingSample) throws {
        var table = try RouteTable(
            schemes: ["slate"],
            modules: (0..<sample.moduleCount).map {
                try ModuleID(RoutingSample.moduleID($0))
            })
        for pattern in sample.patterns {
            try table.add(
                AnyRoute(Route<Idle>(pattern.text, access: .public) { _, _ in }),
                of: ModuleID(RoutingSample.moduleID(pattern.module)))
        }
        self.table = table
    }

    func answer(_ request: RoutingSample.Request) throws -> Int {
        try read(table.match(RouteURL(request.url)), request)
    }

    fileprivate func read(_ match: RouteTable.Match?, _ request: RoutingSample.Request) throws
        -> Int
    {
        guard let parameters = match?.parameters, let item = parameters[RoutingSample.itemName]
        else { throw WrongAnswer(url: request.url) }
        var count = item.utf8.count
        for name in request.names {
            guard let value = parameters[name] else { throw WrongAnswer(url: request.url) }
            count += value.utf8.count
        }
        return count
    }
}

/// The host's own, as the router asks it: each candidate has to pass.
struct FilteredTableWay: RoutingWay {
    private let way: TableWay

    init(_ sample: RoutingSample) throws { way = try TableWay(sample) }

    func answer(_ request: RoutingSample.Request) throws -> Int {
        let match = try way.table.match(RouteURL(request.url)) { entry, _ in
            entry.route.access == .public && !entry.route.hasPredicate
        }
        return try way.read(match, request)
    }
}

/// Foundation's `URL`, fully read, and nothing found; it does not take a query apart.
struct FoundationWay: RoutingWay {
    init(_ sample: RoutingSample) {}

    func answer(_ request: RoutingSample.Request) throws -> Int {
        guard let url = URL(string: request.url), let scheme = url.scheme, let host = url.host(),
            let query = url.query()
        else { throw WrongAnswer(url: request.url) }
        return scheme.utf8.count + host.utf8.count + url.path().utf8.count + query.utf8.count
    }
}

/// Foundation's `URLComponents`, fully read, and nothing found.
struct ComponentsWay: RoutingWay {
    init(_ sample: RoutingSample) {}

    func answer(_ request: RoutingSample.Request) throws -> Int {
        guard let url = URLComponents(string: request.url), let scheme = url.scheme,
            let host = url.host, let items = url.queryItems
        else { throw WrongAnswer(url: request.url) }
        var count = scheme.utf8.count + host.utf8.count + url.path.utf8.count
        for item in items { count += item.name.utf8.count + (item.value?.utf8.count ?? 0) }
        return count
    }
}

/// A stand-in, written here, for routers such as MGJRouter: dictionaries in dictionaries, in which all
/// keys are looked at for a placeholder.
struct DictionariesWay: RoutingWay {
    private final class Level {
        var levels: [String: Level] = [:]
        var pattern: Int?
    }

    private let root = Level()

    init(_ sample: RoutingSample) {
        for (number, pattern) in sample.patterns.enumerated() {
            var level = root
            for part in pattern.text.split(separator: "/") {
                let next = level.levels[String(part)] ?? Level()
                level.levels[String(part)] = next
                level = next
            }
            level.pattern = number
        }
    }

    func answer(_ request: RoutingSample.Request) throws -> Int {
        guard let url = URLComponents(string: request.url), let host = url.host else {
            throw WrongAnswer(url: request.url)
        }
        var parts = url.path.split(separator: "/").map(String.init)
        if !host.hasPrefix("com.") { parts.insert(host, at: 0) }
        var level = root
        var parameters: [String: String] = [:]
        for part in parts {
            if let next = level.levels[part] {
                level = next
            } else if let (key, next) = level.levels.first(where: { $0.key.hasPrefix(":") }) {
                parameters[String(key.dropFirst())] = part
                level = next
            } else {
                throw WrongAnswer(url: request.url)
            }
        }
        for item in url.queryItems ?? [] { parameters[item.name] = item.value ?? "" }
        guard level.pattern == request.pattern, let item = parameters[RoutingSample.itemName] else {
            throw WrongAnswer(url: request.url)
        }
        var count = item.utf8.count
        for name in request.names {
            guard let value = parameters[name] else { throw WrongAnswer(url: request.url) }
            count += value.utf8.count
        }
        return count
    }
}
