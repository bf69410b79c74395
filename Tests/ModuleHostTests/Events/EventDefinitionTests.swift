import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The table of events", .timeLimit(.minutes(10)))
struct EventDefinitionTests {
    @Test("docs/modules.md has a row for each event, as the definition states it")
    func documented() throws {
        let rows = EventKind.allCases.map { kind in
            let reply =
                switch kind.facts.reply {
                case .none: ("", "")
                case .fetchResult: (" -> FetchResult", "a fetch result ")
                case .claim: (" -> Bool", "a claim ")
                }
            return "| `\(kind.rawValue)` | `\(kind.definition.responderName)` "
                + "| `func \(kind.facts.handler)\(reply.0)` | \(reply.1)|\n"
        }
        let head = "| event | conform to | and implement | reply |\n|---|---|---|---|\n"
        let table = head + rows.joined() + "\n"
        let text = try Repository.text(of: "docs/modules.md")
        #expect(text.contains(table), "the table of events in docs/modules.md is to be:\n\(table)")
    }

    @Test("each kind has a definition of its own")
    func distinct() {
        let definitions = Set(EventKind.allCases.map { ObjectIdentifier($0.definition) })
        #expect(definitions.count == EventKind.allCases.count)
    }

    @Test(
        "a module that receives every event receives those of its protocols by these",
        arguments: EventKind.allCases)
    func wildcard(kind: EventKind) throws {
        let module = try Wildcard()
        #expect(kind.isReceived(by: module))
        let direct = try #require(EventListener<any TerminationResponder>(module, of: kind))
        #expect(direct.call(direct: { $0 === module }, wildcard: { _ in false }))
        let wildcard = try #require(EventListener<any MemoryWarningResponder>(module, of: kind))
        #expect(wildcard.call(direct: { _ in false }, wildcard: { $0.receives(kind) }))
    }

    @Test("a listener keeps its object, by its protocol or as one that receives many kinds")
    func keeps() throws {
        weak var module: Wildcard?
        let listeners:
            (
                EventListener<any TerminationResponder>?, EventListener<any MemoryWarningResponder>?
            )
        do {
            let object = try Wildcard()
            module = object
            listeners = (
                EventListener(object, of: .terminate), EventListener(object, of: .memoryWarning)
            )
        }
        let kept = try #require(module)
        let (direct, wildcard) = (try #require(listeners.0), try #require(listeners.1))
        #expect(direct.call(direct: { $0 === kept }, wildcard: { _ in false }))
        #expect(wildcard.call(direct: { _ in false }, wildcard: { $0.receives(.memoryWarning) }))
    }

    @Test("an object that conforms to nothing receives nothing", arguments: EventKind.allCases)
    func nothing(kind: EventKind) {
        #expect(!kind.isReceived(by: Nothing()))
    }
}

private final class Nothing {}

private final class Wildcard: EveryEventResponder, TerminationResponder {
    init() throws {}

    init(context: ModuleContext) throws {}

    func didHear(_ kind: EventKind) {}

    func willTerminate() {}
}
