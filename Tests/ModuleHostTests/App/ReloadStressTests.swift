import TestSupport
import Testing

@testable import ModuleHostCore

/// A module that notes the number of each message that it receives.
final class CountingModule: ConfiguredModule, RootProvider, MessageResponder {
    struct Configuration: Decodable {
        var probe: String
        var fails: Bool?
        /// Nothing but something that can change.
        var version: Int?
    }

    let root: String? = nil
    let topics = ["count"]
    private let probe: Probe?
    private let name: String

    init(context: ModuleContext) throws {
        let configuration = try context.config(Configuration.self)
        if configuration.fails == true { throw TestError() }
        probe = Probe.named(configuration.probe)
        name = String(context.id.text.split(separator: ".").last ?? "")
    }

    func receive(_ message: Message) { probe?.note("\(message.payload?.int ?? -1) \(name)") }
}

/// Random slatefiles, one after another, under a stream of events.
@Suite("Reload under stress", .timeLimit(.minutes(10)))
struct ReloadStressTests {
    private static let events = 2000
    private static let reloads = 25

    private func entries(
        _ random: inout SeededGenerator, fails: Bool
    ) -> [HostUnderTest.Entry] {
        let count = Int.random(in: 1...8, using: &random)
        var names = Array((0..<8).shuffled(using: &random).prefix(count))
        if fails { names.insert(9, at: Int.random(in: 0...names.count, using: &random)) }
        return names.map { name in
            let version = Int.random(in: 0...2, using: &random)
            return HostUnderTest.Entry(
                name: "m\(name)", config: #""version": \#(version), "fails": \#(name == 9)"#,
                type: "CountingModule")
        }
    }

    @Test(
        "every event is received once, by all modules of one slatefile, in its order",
        arguments: 1...6)
    func streams(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let probe = Probe("streams \(seed)")
        let first = entries(&random, fails: false)
        let test = try await HostUnderTest(first, probe: probe).launched()
        var orders = [first.map(\.name)]
        async let stream: Void = post(to: test)
        for _ in 0..<Self.reloads {
            let fails = Int.random(in: 0..<4, using: &random) == 0
            let next = entries(&random, fails: fails)
            let outcome = try await test.reload(next)
            #expect(outcome.isUndone == fails, "\(outcome.text)")
            if !fails { orders.append(next.map(\.name)) }
        }
        try await stream
        await test.settled()
        #expect(await test.stopped() == .stopped)

        var received: [[String]] = Array(repeating: [], count: Self.events)
        var last = -1
        for entry in probe.entries {
            let words = entry.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]) else { continue }
            // One event at a time, in the order of acceptance.
            #expect(number == last || number == last + 1)
            last = number
            received[number].append(String(words[1]))
        }
        #expect(last == Self.events - 1)
        var order = 0
        for number in received.indices {
            let next = orders[order...].firstIndex(of: received[number])
            #expect(next != nil, "event \(number) was received by \(received[number])")
            order = next ?? order
        }
    }

    /// Posts numbers, with pauses of no certain length.
    private func post(to test: HostUnderTest) async throws {
        for number in 0..<Self.events {
            try test.host.post("count", JSONValue(parsing: "\(number)"), origin: .host)
            if number % 16 == 0 { await test.settled() }
        }
    }
}

extension ReloadOutcome {
    fileprivate var isUndone: Bool { if case .rolledBack = self { true } else { false } }
}
