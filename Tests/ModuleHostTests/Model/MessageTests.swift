import Testing

@testable import ModuleHostCore

@Suite("Messages")
struct MessageTests {
    @Test(
        "a payload is read in any form that a decoder takes",
        arguments: [
            (#"{"topic":"a"}"#, "a", nil),
            (#"{"topic":"a","payload":{"b":[1]}}"#, "a", #"{"b":[1]}"#),
            (#"{ "payload" : "x", "topic" : "\u0061b" }"#, "ab", #""x""#),
            (#"{"topic":"a","payload":null}"#, "a", nil),
            (#"{"p\u0061yload":7,"topic":"a"}"#, "a", "7"),
        ] as [(String, String, String?)])
    func forms(text: String, topic: String, payload: String?) throws {
        let content = try Message.content(from: JSONValue(parsing: text))
        guard case .message(let message) = content else {
            Issue.record("not a message: \(content)")
            return
        }
        let decoded = try JSONValue(parsing: text).decode(Message.self)
        #expect(message.topic == topic)
        #expect(message.payload?.text == payload)
        #expect(decoded.topic == topic)
        #expect(decoded.payload?.text == payload)
    }

    @Test(
        "a payload of another form is the error of the decoder",
        arguments: ["{}", #"{"topic":1}"#, #"{"topic":"a","payloads":1}"#, "[]", #""topic""#])
    func errors(text: String) throws {
        let value = try JSONValue(parsing: text)
        let decoding = Result { () throws(EventError) in try Message(value, of: .message) }
        let reading = Result { () throws(EventError) in try Message.content(from: value) }
        switch (decoding, reading) {
        case (.failure(let expected), .failure(let error)): #expect("\(error)" == "\(expected)")
        case (.success, .success): break
        default: Issue.record("\(text): decoded \(decoding), read \(reading)")
        }
    }
}
