import TestSupport
import Testing

@testable import ModuleHostCore

/// The place in an error of decoding is that in the payload, whatever text the payload came with.
@Suite("Places in payloads", .timeLimit(.minutes(10)))
struct PayloadPlaceTests {
    private struct Parcel: Decodable { let grams: Int }

    private static let payload = #"{"topic": "parcel", "payload": {"grams": "many"}}"#

    /// The payload as it stands in a text of its own, in a request, and in a record of the inbox.
    static let texts = [
        (payload, [] as [String]),
        (
            #"{"jsonrpc": "2.0", "id": 1, "method": "send", "params": {"event": "message", "payload": "#
                + payload + "}}", ["params", "payload"]
        ),
        (#"{"event":"message","payload":"# + payload + "}", ["payload"]),
    ]

    @Test("a handler's error names the place in the payload", arguments: texts)
    func handler(text: String, path: [String]) async throws {
        let probe = Probe()
        probe.when("a message") { module in
            _ = try module.context.event?.payload?["payload"]?.decode(Parcel.self)
        }
        let test = try await HostUnderTest(
            [.init(name: "a", config: #""topics": ["parcel"]"#)], probe: probe
        ).launched()
        let value = try path.reduce(JSONValue(parsing: text)) { try #require($0[$1]) }
        test.host.deliver(try LifecycleEvent(.message, payload: value, origin: .host))
        await test.settled()
        #expect(
            test.recorder.messages.filter { $0.hasPrefix("failed: ") }
                == [
                    "failed: line 1, column 42 (/payload/grams): expected a whole number, found the "
                        + "string \"many\""
                ])
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a message that was posted has its place below '/payload', and another text keeps its own")
    func posted() throws {
        let request = try JSONValue(
            parsing: #"{"params": {"topic": "parcel", "payload": {"grams": "many"}}}"#)
        let payload = try #require(request["params"]?["payload"])
        let event = try LifecycleEvent.message(topic: "parcel", payload: payload, origin: .host)
        let error = #expect(throws: JSONError.self) { try payload.decode(Parcel.self) }
        let diagnostic = (event.placed(try #require(error)) as? JSONError)?.diagnostics.first
        #expect(diagnostic?.pointer == "/payload/grams")
        #expect(diagnostic?.place == TextPlace(line: 1, column: 11))
        let text = try JSONValue(parsing: #"{"grams": "many"}"#)
        let other = #expect(throws: JSONError.self) { try text.decode(Parcel.self) }
        #expect(event.placed(try #require(other)) as? JSONError == other)
        #expect(event.placed(TestError()) is TestError)
    }
}
