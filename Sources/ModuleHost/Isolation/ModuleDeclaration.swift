import AppService

/// The protocol between host and module processes.
enum ModuleProtocol {
    static let version = 3
    /// The versions that a program may speak: 2 has neither a window nor `retryMs`.
    static let versions = 2...3
}

/// The response of a module in a process of its own to `initialize`.
struct ModuleDeclaration: Hashable, Sendable {
    let version: Int
    /// The number of events that it may have at a time; nil where it did not say one, which is 1.
    let window: Int?
    /// The events that it receives.
    let events: Set<EventKind>
    /// The topics on which it receives messages.
    let topics: [String]
    /// The routes of the module.
    let routes: [DeclaredRoute]
    /// Whether it provides the root of the app.
    let suppliesRoot: Bool

    private struct Answer: Decodable {
        let `protocol`: Int
        let module: String
        let events: [String]?
        let topics: [String]?
        let routes: [DeclaredRoute]?
        let root: Bool?
        let ready: Bool?
        let window: Int?
    }

    /// Reads a response.
    ///
    /// - Returns: The declaration, and whether events may be sent at once.
    static func read(
        _ answer: JSONValue, of module: ModuleID
    ) throws(DeclarationError) -> (declaration: ModuleDeclaration, isReady: Bool) {
        // Before everything else: another version may have any content.
        if let number = answer["protocol"]?.int, !(ModuleProtocol.versions ~= number) {
            throw .version(number)
        }
        let answer = try DeclarationError.reading { () throws(JSONError) in
            try answer.decode(Answer.self)
        }
        guard answer.module == module.text else { throw .module(answer.module) }
        var events: Set<EventKind> = []
        for name in answer.events ?? [] {
            guard let kind = EventKind(rawValue: name) else { throw .event(name) }
            events.insert(kind)
        }
        if let window = answer.window {
            guard answer.protocol >= 3 else { throw .oldWindow }
            guard OpenWindow.sizes ~= window else { throw .window(window) }
        }
        let topics = answer.topics ?? []
        if !topics.isEmpty { events.insert(.message) }
        let declaration = ModuleDeclaration(
            version: answer.protocol, window: answer.window, events: events, topics: topics,
            routes: answer.routes ?? [],
            suppliesRoot: answer.root ?? false)
        return (declaration, answer.ready ?? true)
    }
}

/// The reason why an answer to `initialize` is not valid.
enum DeclarationError: Error, Hashable {
    case version(Int)
    case module(String)
    case event(String)
    case window(Int)
    /// A window in a version of the protocol that has none.
    case oldWindow
    case malformed(JSONError)

    fileprivate static func reading<Value>(
        _ body: () throws(JSONError) -> Value
    ) throws(DeclarationError) -> Value {
        do throws(JSONError) { return try body() } catch { throw .malformed(error) }
    }
}

extension DeclarationError: CustomStringConvertible {
    /// The text for a sentence about the process: `answered 'initialize' for module 'x', not for its own`.
    var description: String {
        let what =
            switch self {
            case .version(let version):
                "in version \(version) of the protocol; this host speaks \(ModuleProtocol.versions.lowerBound) and \(ModuleProtocol.versions.upperBound)"
            case .module(let name): "as module \(quoted(name)), which it is not"
            case .event(let name):
                "with unknown event \(quoted(name))"
                    + (nearestName(to: name, in: EventKind.allCases.map(\.rawValue))
                        .map { "; did you mean '\($0)'?" } ?? "")
            case .window(let number): "with 'window' \(number), which is not from 1 to 256"
            case .oldWindow:
                "with 'window' in version 2 of the protocol; answer with \"protocol\": 3"
            case .malformed(let error): "with something else: \(error)"
            }
        return "answered 'initialize' \(what)"
    }
}

/// The description of a route by a module of another process.
struct DeclaredRoute: Decodable, Hashable, Sendable {
    let pattern: String
    let action: String?
    let access: RouteAccess?
    let summary: String?
    let parameters: [Parameter]?
    /// The description of the reply, for people.
    let reply: String?
    /// Whether the answer may come after those to later requests.
    let later: Bool?
    /// The longest time until such an answer, in milliseconds.
    let deadlineMs: Int?

    struct Parameter: Decodable, Hashable, Sendable {
        let name: String
        let type: String?
        let expects: String?
        let values: [String]?
        let required: Bool?
        let list: Bool?
    }

    var name: String { action ?? pattern }
}
