import Testing

@testable import ModuleHostCore

/// What JSON-RPC 2.0 says of one line.
@Suite("JSON-RPC frame")
struct RPCFrameTests {
    private func error(_ line: String) -> (error: RPCError, id: RPCID)? {
        guard case .single(.invalid(let error, let id)) = RPCFrame(Array(line.utf8)) else {
            return nil
        }
        return (error, id)
    }

    @Test(
        "ids of every type come back as they were written",
        arguments: [
            "1", "-1", "0", "1.5", "1e400", "-0", #""""#, #""a""#, #""\u00e9\n""#, #""é😀""#, "null",
            "1234567890123456789012345678901234567890",
        ])
    func ids(text: String) throws {
        let line = #"{"jsonrpc":"2.0","id": \#(text) ,"method":"m"}"#
        guard case .single(.request(let request, let id?)) = RPCFrame(Array(line.utf8)) else {
            Issue.record("no request")
            return
        }
        #expect(id.text == text)
        #expect(request.method == "m")
        var json = JSONWriter()
        json.rpcResult(id: id) { $0.value(1) }
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"jsonrpc":"2.0","id":\#(text),"result":1}"#)
    }

    @Test(
        "what is no request",
        arguments: [
            (
                "", -32700, "null",
                "Parse error: column 1: expected a JSON value, found nothing"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"m",}"#, -32700, "null",
                "Parse error: column 37: "
            ),
            (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, -32700, "null", "Parse error: "),
            ("\u{0}", -32700, "null", "Parse error: "),
            ("1", -32600, "null", "Invalid Request: expected an object, found the number 1"),
            ("[]", -32600, "null", "Invalid Request: the batch is empty"),
            (
                #"{"id":1,"method":"m"}"#, -32600, "1",
                "Invalid Request: 'jsonrpc' must be \"2.0\""
            ),
            (
                #"{"jsonrpc":2.0,"id":1,"method":"m"}"#, -32600, "1",
                "Invalid Request: 'jsonrpc' must be \"2.0\""
            ),
            (
                #"{"jsonrpc":"2.0","id":"x","method":1}"#, -32600, #""x""#,
                "Invalid Request: 'method' is a string, found the number 1"
            ),
            (#"{"jsonrpc":"2.0","id":1}"#, -32600, "1", "Invalid Request: 'method' is missing"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}"#, -32600, "1",
                "Invalid Request: 'params' is an array or an object, found the string \"p\""
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"m","params":0}"#, -32600, "1",
                "Invalid Request: 'params' is an array or an object, found the number 0"
            ),
            (
                #"{"jsonrpc":"2.0","id":true,"method":"m"}"#, -32600, "null",
                "Invalid Request: 'id' is a string, a number or null, found true"
            ),
            (
                #"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, -32600, "null",
                "Invalid Request: 'id' is a string, a number or null, found an array"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, -32600, "1",
                "Invalid Request: 'method' is missing"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#, -32600, "1",
                "Invalid Request: 'error' needs a code and a message"
            ),
            (String(repeating: "[", count: 2000), -32700, "null", "Parse error: "),
        ])
    func invalid(line: String, code: Int, id: String, text: String) throws {
        let found = try #require(error(line))
        #expect(found.error.code.rawValue == code)
        #expect(found.id.text == id)
        #expect(found.error.description.hasPrefix(text), "\(found.error)")
    }

    @Test("parameters that are null are none")
    func noParameters() throws {
        let text = #"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#
        guard case .single(.request(let request, let id)) = RPCFrame(Array(text.utf8)) else {
            Issue.record("it is not read as a request")
            return
        }
        #expect(request.method == "m" && request.parameters == nil && id?.text == "1")
    }

    @Test("an answer is read with whatever the error's data is")
    func responses() {
        let rows: [(String, Result<String, RPCError>)] = [
            (#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, .success(#"{"a":1}"#)),
            (#"{"jsonrpc":"2.0","id":7,"result":null}"#, .success("null")),
            (
                #"{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"m"}}"#,
                .failure(RPCError(.overdue, "m"))
            ),
            (
                #"{"jsonrpc":"2.0","id":7,"error":{"code":5,"message":"m","data":"d"}}"#,
                .failure(RPCError(RPCErrorCode(rawValue: 5), "m", detail: "d"))
            ),
            (
                #"{"jsonrpc":"2.0","id":7,"error":{"code":5,"message":"m","data":[1]}}"#,
                .failure(RPCError(RPCErrorCode(rawValue: 5), "m", detail: "[1]"))
            ),
        ]
        for (line, result) in rows {
            guard case .single(.response(let response)) = RPCFrame(Array(line.utf8)) else {
                Issue.record("no response: \(line)")
                continue
            }
            #expect(response.id == RPCID(7))
            #expect(response.result.map(\.text) == result)
        }
    }

    @Test("every code has its exit code, once")
    func exitCodes() {
        let codes = RPCErrorCode.exitCodes.map(\.code.rawValue)
        #expect(codes.count == Set(codes).count)
        #expect(RPCErrorCode.notFound.exitCode == .unavailable)
        #expect(RPCErrorCode.notPermitted.exitCode == .notPermitted)
        #expect(RPCErrorCode.overdue.exitCode == .busy)
        #expect(RPCErrorCode(rawValue: -32099).exitCode == .failed)
    }
}
