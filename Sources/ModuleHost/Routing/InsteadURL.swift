import AppService

/// The URL that is opened instead of a failed module: the `instead` of its entry.
///
/// Names in it stand for parameters of the call, `*name` for those of a catch-all, and `*` for the path below the module.
/// Parameters that it does not name become query items.
package struct InsteadURL: Sendable {
    /// The URL as it is written.
    package let text: String
    private let target: RewriteTarget

    /// - Throws: ``RouteError/RewriteError`` where it is not a URL.
    init(_ text: String) throws(RouteError.RewriteError) {
        self.text = text
        target = try RewriteTarget(text, of: nil)
        if target.names.contains(where: { $0.name.isEmpty }) {
            throw .unboundName("", nearest: nil)
        }
    }

    /// The URL with an `x` for each name; nil where that is not a URL.
    var example: RouteURL? { try? target.example }

    /// A call of a failed module.
    struct Call {
        /// The parameters.
        var parameters: RouteParameters
        /// The names of the parameters that are part of the path.
        var boundNames: [String] = []
        /// Those of them that take several segments.
        var restNames: Set<String> = []
        /// The segments below the module; nil where they are not known.
        var path: [String]?
        var fragment: String?
    }

    /// Returns the URL for a call.
    ///
    /// - Throws: ``InsteadError`` where the call has no form in it.
    func url(for call: Call) throws(InsteadError) -> RouteURL {
        var values: [String: [String]] = [:]
        for (name, isRest) in target.names {
            let found: [String]?
            if isRest {
                found = name == "*" ? call.path : call.parameters.values(of: name)
            } else {
                found = call.parameters.values(of: name)
            }
            guard let found else { throw isRest && name == "*" ? .noPath : .missing(name) }
            if !isRest, found.count != 1 || call.parameters.isCompound(name) {
                throw .notScalar(name)
            }
            values[name] = found
        }
        var text = target.text { values[$0] ?? [] }
        let isPathWritten = values["*"] != nil
        var separator = target.hasQuery ? "&" : "?"
        for (name, items) in call.parameters.all {
            if values[name] != nil || target.queryNames.contains(where: { isSameText($0, name) }) {
                continue
            }
            let isInPath =
                isPathWritten && call.boundNames.contains(where: { isSameText($0, name) })
            if isInPath, call.restNames.contains(name) { continue }
            guard !call.parameters.isCompound(name) else { throw .notScalar(name) }
            if isInPath { continue }
            for item in items {
                var bytes: [UInt8] = []
                bytes.append(percentEncoding: name.utf8)
                bytes.append(UInt8(ascii: "="))
                bytes.append(percentEncoding: item.utf8)
                text += separator + String(decoding: bytes, as: UTF8.self)
                separator = "&"
            }
        }
        text += target.fragment.isEmpty ? call.fragment.map { "#\($0)" } ?? "" : target.fragment
        do throws(RouteURLError) {
            return try RouteURL(text)
        } catch {
            throw .malformed(error)
        }
    }
}

extension InsteadURL: Hashable {
    package static func == (one: InsteadURL, other: InsteadURL) -> Bool { one.text == other.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The reason why a call of a failed module has no form in its ``InsteadURL``.
enum InsteadError: Error, Hashable, CustomStringConvertible {
    /// It has a name for which the call has no parameter.
    case missing(String)
    /// The parameter is an array or an object.
    case notScalar(String)
    /// It has the path of the call, which is not known.
    case noPath
    /// The result is not a URL.
    case malformed(RouteURLError)

    var description: String {
        switch self {
        case .missing(let name): "the call has no parameter '\(name)'"
        case .notScalar(let name):
            "parameter '\(name)' is an array or an object, which cannot be part of a URL"
        case .noPath: "the path of the call is not known"
        case .malformed(let error): "the result is a \(error)"
        }
    }
}

/// A failed module, and the URL that is opened instead of it.
package struct TakenInstead: Hashable, Sendable {
    package let module: ModuleID
    /// The `instead` of its entry.
    package let url: String

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("module", module.text)
            $0.member("url", url)
        }
    }
}

/// The `instead` of each module that has one.
package final class InsteadURLs: Sendable {
    package let urls: [ModuleID: InsteadURL]

    /// - Returns: Nil where no module has one.
    init?(_ urls: [ModuleID: InsteadURL]) {
        if urls.isEmpty { return nil }
        self.urls = urls
    }

    subscript(module: ModuleID) -> InsteadURL? { urls[module] }

    /// Returns the module with an id in any case, if it has one.
    func module(named id: String) -> ModuleID? {
        let module = ModuleID(checked: id)
        if urls[module] != nil { return module }
        return urls.keys.first { $0.text.lowercased() == id.lowercased() }
    }
}
