import TestSupport
import Testing

@testable import ModuleHostCore

/// The events that a Swift module in a process of its own declares to its host: those that it would receive there.
@Suite("Swift modules in a process of their own: events", .timeLimit(.minutes(10)))
struct CrossingEventsTests {
    @Test(
        "each event that a module receives is declared, by whatever protocol it receives it",
        arguments: ["ProbeModule", "EveryEventProbe"])
    func declared(type: String) throws {
        let module = try LedModule(type, probe: Probe())
        let events = module.declaration["events"]?.elements.compactMap(\.string)
        let all = EventKind.allCases.filter { kind in
            type == "EveryEventProbe" || kind.definition.isDeclared(by: ProbeModule.self)
        }
        #expect(events == all.map(\.rawValue))
        let topics = module.declaration["topics"]?.elements.compactMap(\.string)
        #expect(topics == ["*"])
        try module.end()
    }

    @Test("a module with one protocol declares the events of that", arguments: EventKind.allCases)
    func one(kind: EventKind) throws {
        #expect(MessageEvent.topics(of: EveryEventProbe(Probe())) == ["*"])
        #expect(kind.isReceived(by: EveryEventProbe(Probe())))
        let module = try LedModule("TopicProbe", probe: Probe())
        let events = module.declaration["events"]?.elements.compactMap(\.string) ?? []
        #expect(events.contains(kind.rawValue) == (kind == .message))
        #expect(module.declaration["topics"]?.elements.compactMap(\.string) == ["a", "b.*"])
        try module.end()
    }

    @Test("a module that receives every event receives a message")
    func message() throws {
        let probe = Probe()
        let module = try LedModule("EveryEventProbe", probe: probe)
        #expect(try module.notify(.message, #"{"topic":"a"}"#) == nil)
        #expect(probe.entries == ["every message"])
        try module.end()
    }

    @Test("a module that posts more than the host has accepted waits for it")
    func posts() throws {
        let probe = Probe()
        probe.when("a push") { module in
            for number in 0..<40 { try module.context.post("n", number) }
            probe.note("posted")
        }
        let module = try LedModule(probe: probe)
        let push = try module.request(
            "event", #"{"event":"push","from":{"kind":"host"},"payload":{"aps":{}}}"#)
        let first = try (0..<33).map { _ in try module.nextRequest() }
        #expect(first.allSatisfy { $0.0.method == "post" })
        #expect(!probe.entries.contains("posted"))
        for (_, id) in first { try module.send(#""id":\#(id.text),"result":null"#) }
        for _ in 33..<40 {
            let (_, id) = try module.nextRequest()
            try module.send(#""id":\#(id.text),"result":null"#)
        }
        _ = try module.answer(to: push)
        #expect(probe.entries.contains("posted"))
        try module.end()
    }
}

/// Notes each event, whatever its kind.
final class EveryEventProbe: EveryEventResponder {
    private let probe: Probe?

    init(_ probe: Probe) { self.probe = probe }

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(ProbeModule.Configuration.self).probe)
    }

    func didHear(_ kind: EventKind) { probe?.note("every \(kind.rawValue)") }
}

/// Receives messages alone, on topics that its class declares.
final class TopicProbe: MessageResponder, TopicListener, ConfiguredModule {
    typealias Configuration = ProbeModule.Configuration

    static var topics: [String] { ["a", "b.*"] }

    init(context: ModuleContext) {}

    func receive(_ message: Message) {}
}
