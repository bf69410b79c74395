import TestSupport
import Testing

@testable import ModuleHostCore

/// A session whose methods are those of the examples in the JSON-RPC 2.0 specification.
private struct Conversation {
    var session = RPCSession()
    /// What was asked and not answered yet, where `answersLater`.
    var owed: [(request: RPCRequest, ticket: RPCSession.Ticket)] = []
    var answersLater = false
    var notified: [String] = []
    private(set) var text = ""

    /// Hands over bytes, has everything answered, and returns the lines that came back.
    mutating func send(_ bytes: some Sequence<UInt8>) {
        session.receive(Array(bytes)[...])
        work()
    }

    mutating func send(_ text: String) { send(text.utf8) }

    mutating func work() {
        var isMore = true
        while isMore {
            var taken: [(RPCRequest, RPCSession.Ticket)] = []
            isMore = session.takeLines(upTo: 3) { taken.append(($0, $1)) }
            for (request, ticket) in taken {
                if answersLater { owed.append((request, ticket)) } else { answer(request, ticket) }
            }
        }
        text += String(decoding: session.output.rest, as: UTF8.self)
        session.sent(session.output.count)
    }

    mutating func answerOwed() {
        let all = owed
        owed = []
        for (request, ticket) in all { answer(request, ticket) }
        work()
    }

    private mutating func answer(_ request: RPCRequest, _ ticket: RPCSession.Ticket) {
        guard let id = ticket.id else {
            notified.append(request.method)
            return session.answer(ticket, with: [])
        }
        var json = JSONWriter()
        let numbers = request.parameters?.elements.compactMap(\.int) ?? []
        switch request.method {
        case "subtract":
            let minuend = request.parameters?["minuend"]?.int ?? numbers.first ?? 0
            let subtrahend = request.parameters?["subtrahend"]?.int ?? numbers.last ?? 0
            json.rpcResult(id: id) { $0.value(minuend - subtrahend) }
        case "sum": json.rpcResult(id: id) { $0.value(numbers.reduce(0, +)) }
        case "get_data":
            json.rpcResult(id: id) {
                $0.array {
                    $0.value("hello")
                    $0.value(5)
                }
            }
        default:
            json.rpcError(RPCError(.methodNotFound, "Method not found"), id: id)
        }
        session.answer(ticket, with: json.bytes)
    }
}

@Suite("JSON-RPC session")
struct RPCSessionTests {
    private static func error(_ code: Int, _ message: String, _ data: String) -> String {
        #"{"jsonrpc":"2.0","id":null,"error":{"code":\#(code),"message":"\#(message)","data":"\#(data)"}}"#
    }

    private static func notObject(_ number: Int) -> String {
        error(
            -32600, "Invalid Request", "expected an object, found the number \(number)")
    }

    /// The examples of the specification, section 7, in its order.
    static let specification: [(sent: String, expected: String)] = [
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
            #"{"jsonrpc":"2.0","id":1,"result":19}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
            #"{"jsonrpc":"2.0","id":2,"result":-19}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "#
                + #""minuend": 42}, "id": 3}"#,
            #"{"jsonrpc":"2.0","id":3,"result":19}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "#
                + #""subtrahend": 23}, "id": 4}"#,
            #"{"jsonrpc":"2.0","id":4,"result":19}"#
        ),
        (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, ""),
        (#"{"jsonrpc": "2.0", "method": "foobar"}"#, ""),
        (
            #"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
            #"{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"Method not found"}}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
            error(
                -32700, "Parse error",
                "column 40: expected ',' after this value")
        ),
        (
            #"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#,
            error(-32600, "Invalid Request", "'method' is a string, found the number 1")
        ),
        (
            #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},"#
                + #"{"jsonrpc": "2.0", "method"]"#,
            error(-32700, "Parse error", "column 95: expected ':' after this key")
        ),
        ("[]", error(-32600, "Invalid Request", "the batch is empty")),
        ("[1]", "[\(notObject(1))]"),
        ("[1,2,3]", "[\(notObject(1)),\(notObject(2)),\(notObject(3))]"),
        (
            #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},"#
                + #"{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},"#
                + #"{"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},"#
                + #"{"foo": "boo"},"#
                + #"{"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "#
                + #""id": "5"},"#
                + #"{"jsonrpc": "2.0", "method": "get_data", "id": "9"}]"#,
            "["
                + error(-32600, "Invalid Request", #"'jsonrpc' must be \"2.0\""#) + ","
                + #"{"jsonrpc":"2.0","id":"1","result":7},"#
                + #"{"jsonrpc":"2.0","id":"2","result":19},"#
                + #"{"jsonrpc":"2.0","id":"5","error":{"code":-32601,"#
                + #""message":"Method not found"}},"#
                + #"{"jsonrpc":"2.0","id":"9","result":["hello",5]}]"#
        ),
        (
            #"[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},"#
                + #"{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]"#, ""
        ),
    ]

    @Test("the examples of the specification", arguments: specification)
    func examples(sent: String, expected: String) {
        var conversation = Conversation()
        conversation.send(sent + "\n")
        #expect(conversation.text == (expected.isEmpty ? "" : expected + "\n"))
        #expect(conversation.session.openCalls == 0)
    }

    @Test("the same, however the bytes arrive, and whenever answers come")
    func randomPieces() throws {
        let sent = Self.specification.map { $0.sent + "\n" }.joined()
        let expected = Self.specification.filter { !$0.expected.isEmpty }
            .map { $0.expected + "\n" }.joined()
        var random = SeededGenerator(seed: 8)
        for round in 0..<300 {
            var conversation = Conversation()
            conversation.answersLater = round % 2 == 1
            var rest = Array(sent.utf8)[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...200, using: &random))
                rest = rest.dropFirst(piece.count)
                conversation.send(piece)
                if Int.random(in: 0..<4, using: &random) == 0 { conversation.answerOwed() }
            }
            conversation.answerOwed()
            // Errors overtake what is answered later.
            try #require(
                conversation.text.split(separator: "\n").sorted()
                    == expected.split(separator: "\n").sorted())
            #expect(conversation.session.openCalls == 0)
        }
    }

    @Test("a session survives any bytes, and answers each line at most once")
    func anyBytes() {
        var random = SeededGenerator(seed: 99)
        let seeds = Self.specification.map { Array($0.sent.utf8) }
        for _ in 0..<3000 {
            var line = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<line.count, using: &random)
                line[index] = UInt8.random(in: 0...255, using: &random)
            }
            var conversation = Conversation()
            conversation.send(line + [0x0A])
            let lines = conversation.text.utf8.count { $0 == 0x0A }
            #expect(lines <= line.count { $0 == 0x0A } + 1)
            #expect(conversation.session.openCalls == 0)
        }
    }

    private func call(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"sum"}"# + "\n"
    }

    @Test("lines wait while too many calls are open, and go on as they are answered")
    func openCalls() {
        var conversation = Conversation()
        conversation.session = RPCSession(limits: .init(calls: 4))
        conversation.answersLater = true
        conversation.send((1...10).map(call).joined())
        #expect(conversation.owed.count == 4)
        #expect(!conversation.session.wantsInput)
        conversation.answerOwed()
        #expect(conversation.owed.count == 4)
        conversation.answerOwed()
        conversation.answerOwed()
        #expect(conversation.text.split(separator: "\n").count == 10)
        #expect(conversation.session.wantsInput)
    }

    @Test("notifications count while they are handled")
    func openNotifications() {
        var conversation = Conversation()
        conversation.session = RPCSession(limits: .init(calls: 2))
        conversation.answersLater = true
        conversation.send(String(repeating: #"{"jsonrpc":"2.0","method":"n"}"# + "\n", count: 3))
        #expect(conversation.owed.count == 2)
        conversation.answerOwed()
        conversation.answerOwed()
        #expect(conversation.notified.count == 3)
        #expect(conversation.text == "")
    }

    @Test("lines wait while answers are not read")
    func unreadAnswers() {
        var session = RPCSession(limits: .init(outputMark: 60))
        session.receive(Array((1...3).map(call).joined().utf8)[...])
        var taken = 0
        func take() {
            for _ in 0..<10 {
                var tickets: [RPCSession.Ticket] = []
                _ = session.takeLines(upTo: 1) { tickets.append($1) }
                taken += tickets.count
                let answer = [UInt8](repeating: 1, count: 40)
                for ticket in tickets { session.answer(ticket, with: answer) }
            }
        }
        take()
        #expect(taken == 2)
        #expect(!session.wantsInput)
        session.sent(session.output.count)
        take()
        #expect(taken == 3)
    }

    @Test("a batch of more messages than may be open is refused as a whole")
    func largeBatch() {
        var conversation = Conversation()
        conversation.session = RPCSession(limits: .init(calls: 2))
        conversation.send("[1,2,3]\n")
        #expect(
            conversation.text
                == Self.error(
                    -32004, "too many messages in a batch", "3; at most 2, send them in parts")
                + "\n")
    }

    @Test("responses of a batch that are too long together are left out, with an error for each")
    func longBatch() {
        var conversation = Conversation()
        conversation.session = RPCSession(limits: .init(output: 200))
        let calls = (1...3).map { call($0).dropLast() }.joined(separator: ",")
        conversation.send("[\(calls)]\n")
        let results = (1...2).map { #"{"jsonrpc":"2.0","id":\#($0),"result":0}"# }
        let left = #"""
            {"jsonrpc":"2.0","id":3,"error":{"code":-32004,"message":"the responses of the batch are too long",\#
            "data":"this call was made, and its response is left out; send fewer messages in a batch"}}
            """#
        #expect(conversation.text == "[\(results[0]),\(results[1]),\(left)]\n")
        #expect(conversation.session.openCalls == 0)
    }

    @Test("a line of more than the limit ends the conversation; what was asked before is answered")
    func longLine() {
        var conversation = Conversation()
        conversation.session = RPCSession(limits: .init(line: 100))
        conversation.answersLater = true
        conversation.send(call(1) + String(repeating: "x", count: 101))
        #expect(
            conversation.text
                == Self.error(-32600, "Invalid Request", "a line has more than 100 bytes") + "\n")
        #expect(!conversation.session.isOver)
        #expect(!conversation.session.wantsInput)
        conversation.send("\n" + call(2))
        conversation.answerOwed()
        #expect(conversation.text.hasSuffix(#"{"jsonrpc":"2.0","id":1,"result":0}"# + "\n"))
        #expect(conversation.session.isOver)
    }

    @Test("inside a line from its first byte to its end, as long as more is read")
    func insideLine() {
        var conversation = Conversation()
        #expect(!conversation.session.isInsideLine)
        conversation.send("{")
        #expect(conversation.session.isInsideLine)
        conversation.send("}\n")
        #expect(!conversation.session.isInsideLine)
        conversation.send("{")
        conversation.session.endInput()
        #expect(!conversation.session.isInsideLine)
    }

    @Test("a half-closed conversation is over when all is answered; its last line needs no newline")
    func inputEnds() {
        var conversation = Conversation()
        conversation.answersLater = true
        conversation.send(call(1) + String(call(2).dropLast()))
        conversation.session.endInput()
        #expect(!conversation.session.isOver)
        conversation.work()
        #expect(conversation.owed.count == 2)
        #expect(!conversation.session.isOver)
        conversation.answerOwed()
        #expect(conversation.session.isOver)
        #expect(conversation.text.split(separator: "\n").count == 2)
    }

    @Test("empty lines and answers to nothing are passed over", arguments: ["\n", " \t\r\n"])
    func nothing(text: String) {
        var conversation = Conversation()
        conversation.send(text + #"{"jsonrpc":"2.0","id":1,"result":1}"# + "\n")
        conversation.send(#"[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}]"# + "\n")
        #expect(conversation.text == "")
    }

    @Test("a reply is given once; letting go of it gives one too; a notification gets no bytes")
    func reply() {
        let given = LockedList<String>()
        let deliver: @Sendable (RPCSession.Ticket, [UInt8]) -> Void = { _, bytes in
            given.append(String(decoding: bytes, as: UTF8.self))
        }
        var conversation = Conversation()
        conversation.answersLater = true
        conversation.send(call(1) + #"{"jsonrpc":"2.0","method":"n"}"# + "\n")
        let (first, second) = (conversation.owed[0].ticket, conversation.owed[1].ticket)
        let reply = RPCReply(to: first, through: deliver)
        reply.fail(RPCError(.overdue, "late"))
        reply.succeed { $0.value(1) }
        _ = RPCReply(to: first, through: deliver)
        _ = RPCReply(to: second, through: deliver)
        #expect(
            given.values == [
                #"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"late"}}"#,
                #"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","#
                    + #""data":"the call was released without an answer"}}"#,
                "",
            ])
    }
}
