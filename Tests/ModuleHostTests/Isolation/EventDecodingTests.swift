import Testing

@testable import ModuleHostCore

@Suite("The events that a host sends to a module's process")
struct EventDecodingTests {
    @Test("an event that is missing or unknown", arguments: ["{}", #"{"event":"rain"}"#])
    func unknown(text: String) throws {
        let parameters = try JSONValue(parsing: text)
        #expect(throws: RPCError.invalidParameters("'event' is missing or unknown")) {
            try LifecycleEvent(sentDown: parameters, app: "x")
        }
    }
}
