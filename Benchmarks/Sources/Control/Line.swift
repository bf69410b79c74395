/// The lines that a client sends.
enum Line {
    /// A call that the community of the default slatefile answers for every caller.
    static let call = #"""
        {"jsonrpc":"2.0","id":1,"method":"call","params":\#
        {"module":"com.mm.community","action":"userInfo","parameters":{"style":1}}}
        """#
    /// A request that the host answers without the app.
    static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
}
