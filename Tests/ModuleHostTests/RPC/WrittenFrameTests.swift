import Testing

@testable import ModuleHostCore

@Suite("Frames in the form in which they are written")
struct WrittenFrameTests {
    private static let request: [UInt8] = {
        var json = JSONWriter()
        json.rpcRequest("call", id: RPCID(120)) { $0.object { $0.member("a", 1) } }
        return json.bytes
    }()

    private static let response: [UInt8] = {
        var json = JSONWriter()
        json.rpcResult(id: RPCID(7)) { $0.object { $0.member("a", "b") } }
        return json.bytes
    }()

    private func text(_ frame: RPCFrame?) -> String? {
        switch frame {
        case .single(.request(let request, let id)):
            "\(id?.text ?? "none") \(request.method) \(request.parameters?.text ?? "none")"
        case .single(.response(let response)): "\(response.id.text) \(response.result)"
        case .single(.invalid), .batch, nil: nil
        }
    }

    @Test("a request and a response are read as any others")
    func written() {
        #expect(text(RPCFrame(asWritten: Self.request)) == #"120 call {"a":1}"#)
        #expect(text(RPCFrame(asWritten: Self.response)) == #"7 success({"a":"b"})"#)
        #expect(text(RPCFrame(Self.request)) == #"120 call {"a":1}"#)
        #expect(text(RPCFrame(Self.response)) == #"7 success({"a":"b"})"#)
    }

    @Test(
        "a line of another form is left to the reader of all forms",
        arguments: [
            "", "{", #"{"jsonrpc":"2.0","id":"#, #"{"jsonrpc":"2.0","id":1}"#,
            #"{"jsonrpc":"2.0","id":01,"result":1}"#, #"{"jsonrpc":"2.0","id":-1,"result":1}"#,
            #"{"jsonrpc":"2.0","id":1234567890123456789,"result":1}"#,
            #"{"jsonrpc":"2.0","id":"1","result":1}"#, #"{"jsonrpc":"2.0","id":1,"result":1"#,
            #"{"jsonrpc":"2.0","id":1,"result":}"#, #"{"jsonrpc":"2.0","id":1,"result":1}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":1,"error":1}"#,
            #"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"result":1}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"\u0061","params":{}}"#,
            #"{"jsonrpc":"2.0","method":"a","params":{}}"#, #"{"jsonrpc":"1.0","id":1,"result":1}"#,
        ])
    func other(line: String) {
        #expect(text(RPCFrame(asWritten: Array(line.utf8))) == nil)
    }

    @Test("a changed byte never makes it read what the reader of all forms does not")
    func changed() {
        let bytes = Array(#"{}[]",:\019ae -"#.utf8) + [0x00, 0x0A, 0x7F, 0x80, 0xFF]
        for line in [Self.request, Self.response] {
            for place in line.indices {
                let different = bytes.filter { byte in
                    var line = line
                    line[place] = byte
                    guard let written = RPCFrame(asWritten: line) else { return false }
                    return text(written) != text(RPCFrame(line))
                }
                #expect(different == [])
            }
        }
    }
}
