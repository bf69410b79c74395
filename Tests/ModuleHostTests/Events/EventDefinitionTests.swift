import TestSupport
import Testing

@testable import ModuleHost

@Suite("The table of events", .timeLimit(.minutes(10)))
struct EventDefinitionTests {
    private static let documentation =
        "\(#filePath)"
        .split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/") + "/docs/modules.md"

    @Test(
        "docs/modules.md has a row for each event, with its protocol", arguments: EventKind.allCases
    )
    func documented(kind: EventKind) throws {
        let text = String(
            decoding: try readFile(at: Self.documentation, limit: 1 << 20), as: UTF8.self)
        #expect(text.contains("| `\(kind.rawValue)` | `\(kind.definition.responderName)` |"))
    }

    @Test("each kind has a definition of its own")
    func distinct() {
        let definitions = Set(EventKind.allCases.map { ObjectIdentifier($0.definition) })
        #expect(definitions.count == EventKind.allCases.count)
    }

    @Test(
        "a module that hears every event hears those of its protocols by these",
        arguments: EventKind.allCases)
    func wildcard(kind: EventKind) throws {
        let module = try Wildcard()
        let listener = try #require(EventListener<any TerminationResponder>(module, of: kind))
        #expect(listener.module === module)
        #expect(listener.wildcard == nil)
        #expect(kind.isHeard(by: module))
        #expect(EventListener<any MemoryWarningResponder>(module, of: kind)?.module == nil)
    }

    @Test("an object that conforms to nothing hears nothing", arguments: EventKind.allCases)
    func nothing(kind: EventKind) {
        #expect(!kind.isHeard(by: Nothing()))
    }
}

private final class Nothing {}

private final class Wildcard: EveryEventResponder, TerminationResponder {
    init() throws {}

    init(context: ModuleContext) throws {}

    func didHear(_ kind: EventKind) {}

    func willTerminate() {}
}

extension EventDefinition {
    /// The name of the responder protocol, such as `LaunchResponder`.
    fileprivate static var responderName: String {
        String("\(Responder.self)".split(separator: " ").last ?? "")
    }
}
