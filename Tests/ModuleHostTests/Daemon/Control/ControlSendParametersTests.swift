import Testing

@testable import ModuleHostCore

@Suite("The parameters of send", .timeLimit(.minutes(10)))
struct ControlSendParametersTests {
    private func plain(_ json: String) throws -> ControlSendParameters? {
        ControlSendParameters(plain: try JSONValue(parsing: Array(json.utf8)))
    }

    @Test("an object as it should be is read without a decoder")
    func plain() throws {
        let all = try #require(
            try plain(#"{"event":"push","payload":{"a":1},"id":"x","wait":true}"#))
        #expect(all.event == "push")
        #expect(all.payload?["a"]?.int == 1)
        #expect(all.id == "x")
        #expect(all.wait == true)
        let least = try #require(try plain(#"{"event":"push","payload":null}"#))
        #expect(least.payload == nil)
        #expect(least.id == nil)
        #expect(least.wait == nil)
    }

    @Test(
        "anything else is left to the decoder, which says what is wrong",
        arguments: [
            "[]", "{}", #"{"event":1}"#, #"{"event":"push","id":1}"#,
            #"{"event":"push","wait":1}"#, #"{"event":"push","x":1}"#,
        ])
    func other(json: String) throws {
        #expect(try plain(json) == nil)
    }
}
