extension RPCMessage {
    /// The first bytes of each message that ``JSONWriter`` writes.
    static var beginning: StaticString { #"{"jsonrpc":"2.0""# }
}

extension JSONWriter {
    /// Writes a request, or without an id a notification.
    mutating func rpcRequest(
        _ method: String, id: RPCID?, _ parameters: (inout JSONWriter) -> Void
    ) {
        object(beginning: RPCMessage.beginning) {
            if let id { $0.member("id", raw: id.text.utf8) }
            $0.member("method", method)
            $0.member("params", parameters)
        }
    }

    /// Writes a response.
    mutating func rpcResult(id: RPCID, _ result: (inout JSONWriter) -> Void) {
        object(beginning: RPCMessage.beginning) {
            $0.member("id", raw: id.text.utf8)
            $0.member("result", result)
        }
    }

    /// Writes a response that is an error.
    mutating func rpcError(_ error: RPCError, id: RPCID) {
        object(beginning: RPCMessage.beginning) {
            $0.member("id", raw: id.text.utf8)
            $0.member("error") {
                $0.object {
                    $0.member("code", error.code.rawValue)
                    $0.member("message", error.message)
                    if let detail = error.detail { $0.member("data", detail) }
                }
            }
        }
    }
}
