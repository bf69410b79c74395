/// The id that connects a response to its request: a string, a number or null, kept as its JSON text.
///
/// So a number of 40 digits, a fraction or an escape is returned exactly as it was sent.
package struct RPCID: Hashable, Sendable {
    /// The JSON text.
    package let text: String

    /// The id of a request whose own id is not known.
    static let null = RPCID(text: "null")

    private init(text: String) { self.text = text }

    package init(_ number: Int) { text = "\(number)" }

    /// Takes a string, a number or null; nil for anything else.
    init?(_ value: JSONValue) {
        switch value.kind {
        case .string, .number, .null: text = value.text
        case .bool, .array, .object: return nil
        }
    }
}

/// One message of JSON-RPC 2.0.
enum RPCMessage: Sendable {
    /// A request; without an id it is a notification, which has no response.
    case request(RPCRequest, id: RPCID?)
    /// The response to a request of this end.
    case response(RPCResponse)
    /// Any other message: the error for the response.
    case invalid(RPCError, id: RPCID)
}

/// A request to the other end.
package struct RPCRequest: Sendable {
    package let method: String
    /// An array or an object; nil where there are none.
    package let parameters: JSONValue?
}

/// The result or the error of a request.
struct RPCResponse: Sendable {
    let id: RPCID
    let result: Result<JSONValue, RPCError>
}

/// One line: one message, or a batch of them.
enum RPCFrame: Sendable {
    case single(RPCMessage)
    /// At least one message.
    case batch([RPCMessage])
}

extension RPCFrame {
    /// Reads a line, which may be any bytes.
    init(_ line: [UInt8]) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line)
        } catch {
            self = .single(.invalid(.parseError(Self.text(of: error)), id: .null))
            return
        }
        guard value.kind == .array else {
            self = .single(RPCMessage(value))
            return
        }
        let messages = value.elements.map(RPCMessage.init)
        self =
            messages.isEmpty
            ? .single(.invalid(.invalidRequest("the batch is empty"), id: .null))
            : .batch(messages)
    }

    /// Returns the description of an error in a line, without the number of the line.
    private static func text(of error: JSONError) -> String {
        error.diagnostics.first.map { "column \($0.place.column): \($0.message)" } ?? "no JSON"
    }
}

extension RPCMessage {
    /// Reads a message; one that is not valid becomes `invalid`.
    init(_ value: JSONValue) {
        guard value.kind == .object else {
            let problem = "expected an object, found \(value.inWords)"
            self = .invalid(.invalidRequest(problem), id: .null)
            return
        }
        // A readable id is used in the response, even if the rest is not valid.
        let idValue = value["id"]
        let id = idValue.flatMap(RPCID.init)
        do throws(RPCError) {
            if let idValue, id == nil {
                throw .invalidRequest(
                    "'id' is a string, a number or null, found \(idValue.inWords)")
            }
            guard value["jsonrpc"]?.isString("2.0") == true else {
                throw .invalidRequest("'jsonrpc' must be \"2.0\"")
            }
            self =
                if let method = value["method"] {
                    try .request(Self.request(method, value["params"]), id: id)
                } else {
                    try .response(RPCResponse(value, id: id))
                }
        } catch {
            self = .invalid(error, id: id ?? .null)
        }
    }

    private static func request(
        _ method: JSONValue, _ parameters: JSONValue?
    ) throws(RPCError) -> RPCRequest {
        guard let name = method.string else {
            throw .invalidRequest("'method' is a string, found \(method.inWords)")
        }
        switch parameters?.kind {
        case nil, .array, .object: return RPCRequest(method: name, parameters: parameters)
        // Not part of the standard, but many clients send it for no parameters.
        case .null: return RPCRequest(method: name, parameters: nil)
        case .bool, .number, .string:
            throw .invalidRequest(
                "'params' is an array or an object, found \(parameters?.inWords ?? "nothing")")
        }
    }
}

extension RPCResponse {
    fileprivate init(_ value: JSONValue, id: RPCID?) throws(RPCError) {
        let isResponse = (value["result"] == nil) != (value["error"] == nil)
        guard isResponse, let id else { throw .invalidRequest("'method' is missing") }
        self.id = id
        if let result = value["result"] {
            self.result = .success(result)
            return
        }
        guard let error = value["error"], let code = error["code"]?.int,
            let message = error["message"]?.string
        else { throw .invalidRequest("'error' needs a code and a message") }
        let data = error["data"]
        self.result = .failure(
            RPCError(
                RPCErrorCode(rawValue: code), message, detail: data?.string ?? data?.redactedText))
    }
}
