import Glibc

/// What the host asks: what of it matters here, as the JSON text that it was.
struct Request {
    enum Method: String {
        case initialize, event, call, cancel, shutdown
    }

    var id: String
    let method: Method
    /// The module's id, in quotes.
    let module: String
    /// The action of a call, in quotes.
    let action: String
    /// The parameters of a call.
    let parameters: String
    /// The name of an event.
    let event: String
    /// An event, as the journal has it.
    let journalLine: String

    /// Reads a line of the host.
    ///
    /// What is none ends the process: this module is for hosts that are to be trusted.
    init(_ line: ArraySlice<UInt8>) {
        let message = JSONObject(line)
        guard let name = message["method"],
            let method = Method(rawValue: String(name.dropFirst().dropLast())),
            let id = message["id"] ?? (method == .cancel ? "null" : nil)
        else {
            let text = String(decoding: line, as: UTF8.self)
            Descriptor.error.write("MisbehavingModule: this is no request of a host: \(text)\n")
            exit(70)
        }
        self.id = id
        self.method = method
        let parameters = message["params"].map { JSONObject(Array($0.utf8)[...]) }
        module = parameters?["module"] ?? "null"
        event = String((parameters?["event"] ?? "").dropFirst().dropLast())
        action = parameters?["action"] ?? "null"
        self.parameters = parameters?["parameters"] ?? "null"
        let members = ["event", "position", "payload", "repeated", "id"].map {
            #""\#($0)":\#(parameters?[$0] ?? "null")"#
        }
        journalLine = #"{"pid":\#(getpid()),\#(members.joined(separator: ","))}"#
    }
}

/// What the module writes: each a line.
enum Message {
    static func result(_ result: String, id: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"# + "\n"
    }

    static func log(_ text: String) -> String {
        #"{"jsonrpc":"2.0","method":"log","params":{"message":"\#(text)"}}"# + "\n"
    }

    static func post(_ topic: String) -> String {
        #"{"jsonrpc":"2.0","method":"post","params":{"topic":"\#(topic)","payload":1}}"# + "\n"
    }

    static func post(_ topic: String, id: Int) -> String {
        #"{"jsonrpc":"2.0","id":"post \#(id)","method":"post","params":{"topic":"\#(topic)"}}"#
            + "\n"
    }

    /// What the process of a Swift module says whose code does not return.
    static let unresponsive = #"{"jsonrpc":"2.0","method":"unresponsive","params":{}}"# + "\n"

    /// The answer to `initialize`.
    static func introduction(version: Int, module: String) -> String {
        #"{"protocol":\#(version),"module":\#(module),"#
            + #""events":["launch","background","foreground","push","terminate"],"topics":["*"],"#
            + #""routes":[{"pattern":"echo/:text","action":"echo","access":"public","#
            + #""summary":"Says the same.","parameters":[{"name":"text"}]},"#
            + #"{"pattern":"keep/:text","action":"keep","access":"public","later":true,"#
            + #""summary":"Says the same after the next push.","parameters":[{"name":"text"}]},"#
            + #"{"pattern":"hurry/:text","action":"hurry","later":true,"deadlineMs":2000,"#
            + #""parameters":[{"name":"text"}]}]}"#
    }

    /// A call of a route that answers later.
    static func lateCall(id: String, canWait: Bool) -> String {
        #"{"jsonrpc":"2.0","id":"\#(id)","method":"call","params":{"module":"x.l","action":"await","#
            + #""parameters":{"name":"one"}\#(canWait ? "" : #","later":false"#)}}"# + "\n"
    }
}
