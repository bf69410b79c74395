import TestSupport
import Testing

@testable import ModuleHostCore

/// A protocol whose members answer.
protocol EchoResponder {
    func echo(_ text: String) throws -> String
}

/// A module that answers, and stands before the doors of its test.
final class EchoProbe: ConfiguredModule, EchoResponder, MemoryWarningResponder {
    struct Configuration: Decodable {
        var probe: String
        var error: String?
    }

    private let probe: Probe?
    private let name: String
    private let error: String?

    init(context: ModuleContext) throws {
        let configuration = try context.config(Configuration.self)
        probe = Probe.named(configuration.probe)
        error = configuration.error
        name = String(context.id.text.split(separator: ".").last ?? "")
    }

    func echo(_ text: String) throws -> String {
        probe?.stand("\(name) echo")
        if let error { throw TestError(description: error) }
        return "\(text) \(name)"
    }

    func didReceiveMemoryWarning() { probe?.stand("\(name) memory-warning") }
}

@Suite("Answers of all members", .timeLimit(.minutes(10)))
struct AnswerTests {
    private func host(_ probe: Probe) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                .init(name: "a", type: "CallProbe"), .init(name: "b", type: "EchoProbe"),
                .init(name: "c", config: #""error": "no voice""#, type: "EchoProbe"),
                .init(name: "d", type: "EchoProbe"),
            ], probe: probe
        ).launched()
    }

    private func ask(_ test: HostUnderTest) async throws -> String {
        try await test.asFirst { module in
            let answers = module.context.center.send(to: (any EchoResponder).self, as: String.self)
            {
                try $0.echo("hi")
            }
            return Self.text(answers)
        }
    }

    private static func text(_ answers: [Answer<String>]) -> String {
        answers.map { answer in
            let text =
                switch answer.result {
                case .success(let value): value
                case .failure(let error): "failed: \(error)"
                }
            return "\(answer.module.map { "\($0)" } ?? "own"): \(text)"
        }.joined(separator: "; ")
    }

    @Test("each answers in slatefile order, an error is an answer and is reported")
    func all() async throws {
        let test = try await host(Probe())
        #expect(
            try await ask(test) == "x.b: hi b; x.c: failed: no voice; x.d: hi d")
        #expect(test.recorder.messages.filter { $0 == "failed: no voice" }.count == 1)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an overdue module is not asked, and its answer says so")
    func overdue() async throws {
        let probe = Probe()
        let door = probe.close("b memory-warning")
        let test = try await host(probe)
        try test.deliver(.memoryWarning)
        await probe.reached("b memory-warning")
        test.overrun()
        #expect(
            try await ask(test)
                == "x.b: failed: x.b is unresponsive, and calls do not wait for it; "
                + "x.c: failed: no voice; x.d: hi d")
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("a sender that loses the lane in between receives the answers of all")
    func takeover() async throws {
        let probe = Probe()
        let door = probe.close("b echo")
        let test = try await host(probe)
        async let text = ask(test)
        await probe.reached("b echo")
        test.overrun()
        await test.settled()
        door.open()
        #expect(try await text == "x.b: hi b; x.c: failed: no voice; x.d: hi d")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a member that asks all again ends 64 deep, and each answer says so")
    func tooDeep() async throws {
        final class Loud: EchoResponder {
            let center: CommunicationCenter
            init(_ center: CommunicationCenter) { self.center = center }
            func echo(_ text: String) throws -> String {
                let answers = center.send(to: (any EchoResponder).self, as: String.self) {
                    try $0.echo(text + "!")
                }
                return try answers[0].result.get()
            }
        }
        let center = CommunicationCenter()
        let loud = Loud(center)
        center.add(loud)
        // They keep each other.
        defer { center.remove(loud) }
        let answers = center.send(to: (any EchoResponder).self, as: String.self) { try $0.echo("") }
        #expect(Self.text(answers) == "own: failed: modules already call each other 64 deep: ")
    }

    @Test("in a center of one's own, members answer in the order of adding")
    func own() {
        struct Silent: Error {}
        final class Voice: EchoResponder {
            let name: String?
            init(_ name: String?) { self.name = name }
            func echo(_ text: String) throws -> String {
                guard let name else { throw Silent() }
                return text + name
            }
        }
        var failed = 0
        let center = CommunicationCenter { _, _ in failed += 1 }
        for name in ["x", nil, "y"] { center.add(Voice(name)) }
        let answers = center.send(to: (any EchoResponder).self, as: String.self) {
            try $0.echo("hi ")
        }
        #expect(answers.map(\.value) == ["hi x", nil, "hi y"])
        #expect(failed == 1)
    }
}
