import Testing

@testable import ModuleHostCore

@Suite("Event that a sender asks to have delivered")
struct SendRequestTests {
    private func request(
        _ name: String, _ payload: String? = nil, id: String? = nil
    ) throws -> SendRequest {
        try SendRequest(
            name, payload: payload.map { try JSONValue(parsing: $0) }, id: id,
            from: .local(ModuleID("com.example.a")))
    }

    @Test("what is durable goes through the inbox, as it was sent")
    func durable() throws {
        let request = try request("push", #"{"aps": {"badge": 3}}"#, id: "a-1")
        #expect(request.event.kind == .push)
        let record = try #require(request.record)
        #expect(record.event.kind == .push)
        #expect(record.event.origin == .inbox)
        #expect(record.payload?.text == #"{"aps": {"badge": 3}}"#)
        #expect(record.id == "a-1")
        #expect(record.modules == nil && !record.isRetried)
        #expect(record.time?.isEmpty == false)
        // What is written is what is read.
        let read = try InboxRecord(parsing: record.line[...])
        #expect(read.event.kind == .push)
        #expect(read.payload == record.payload && read.id == "a-1" && read.time == record.time)
    }

    @Test("a token stays in what is stored, and out of what is delivered")
    func token() throws {
        let payload = #"{"url":"slate://com.example.a/p?token=hush"}"#
        let request = try request("open-url", payload)
        #expect(request.record?.payload?.text == payload)
        #expect(request.event.payload?.text.contains("hush") == false)
        #expect(request.record?.event.payload?.text.contains("hush") == false)
    }

    @Test("what is not durable is delivered as it comes")
    func volatile() throws {
        let request = try request("memory-warning")
        #expect(request.event.kind == .memoryWarning)
        #expect(request.event.origin == .local(try ModuleID("com.example.a")))
        #expect(request.record == nil)
    }

    @Test("an id of 1 to 200 bytes", arguments: ["a", String(repeating: "é", count: 100)])
    func ids(id: String) throws {
        #expect(try request("message", #"{"topic":"t"}"#, id: id).record?.id == id)
    }

    @Test("a source of 1 to 64 bytes is kept, and read again")
    func source() throws {
        let payload = try JSONValue(parsing: #"{"topic":"t"}"#)
        func sent(_ source: String) throws -> InboxRecord? {
            try SendRequest(
                "message", payload: payload, id: nil, source: source,
                from: .local(ModuleID("com.example.a"))
            ).record
        }
        let longest = String(repeating: "é", count: 32)
        let record = try #require(try sent(longest))
        #expect(try InboxRecord(parsing: record.line[...]).source == longest)
        #expect(
            try InboxRecord(parsing: record.lineForRetry()[...]).source == longest)
        for source in ["", longest + "x"] {
            #expect(throws: RPCError.invalidParameters("/source: 1 to 64 bytes")) {
                try sent(source)
            }
        }
        #expect(
            throws: RPCError.invalidParameters(
                "event 'background' is not durable: it has no source")
        ) {
            try SendRequest(
                "background", payload: nil, id: nil, source: "a",
                from: .local(ModuleID("com.example.a")))
        }
    }

    @Test("no id is none")
    func noID() throws {
        #expect(try request("message", #"{"topic":"t"}"#).record?.id == nil)
    }

    @Test(
        "what is wrong",
        arguments: [
            (
                "pusch", nil, nil,
                "/event: unknown event 'pusch'; did you mean 'push'?"
            ),
            ("", nil, nil, "/event: unknown event ''"),
            ("rain", "{}", "a", "/event: unknown event 'rain'"),
            ("launch", nil, nil, "event 'launch' is given by the host itself, never from outside"),
            ("background", "{}", nil, "event 'background' takes no payload"),
            ("push", nil, nil, "event 'push' needs a payload"),
            (
                "push", #"{"aps":{"badge":-1}}"#, nil,
                "event 'push' cannot take this payload: "
                    + "line 1, column 17 (/aps/badge): -1 does not fit UInt"
            ),
            (
                "message", #"{"topik":"t"}"#, nil,
                "event 'message' cannot take this payload: line 1, column 1: missing key 'topic'"
                    + "\nline 1, column 2 (/topik): unknown key 'topik'; did you mean 'topic'?"
            ),
            (
                "message", #"{"topic":""}"#, nil,
                "event 'message' needs a topic, such as user.signed-in"
            ),
            ("background", nil, "a", "event 'background' is not durable: it has no id"),
            ("message", #"{"topic":"t"}"#, "", "/id: 1 to 200 bytes"),
            (
                "message", #"{"topic":"t"}"#, String(repeating: "é", count: 100) + "a",
                "/id: 1 to 200 bytes"
            ),
        ] as [(String, String?, String?, String)])
    func errors(name: String, payload: String?, id: String?, what: String) throws {
        let error = try #require(throws: RPCError.self) { try request(name, payload, id: id) }
        #expect(error == .invalidParameters(what), "\(error)")
    }
}
