/// The methods of a control socket, by name.
///
/// A method's handler runs on the thread of the control socket, which serves all clients: it must dispatch
/// long work elsewhere, and respond when that ends.
package struct ControlMethods: Sendable {
    /// One call.
    package struct Call: Sendable {
        /// The calling process.
        package let peer: SocketPeer
        /// An array or an object; nil where there are none.
        package let parameters: JSONValue?
        /// The reply, to be given once.
        package let reply: RPCReply
        /// Runs work on the thread of the control socket: the lane must not spend time writing JSON.
        let onControlThread: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
        /// The cancellation by the client; nil for a call that cannot be cancelled.
        let cancellation: CallCancellation?

        init(
            peer: SocketPeer, parameters: JSONValue?, reply: RPCReply,
            cancellation: CallCancellation? = nil,
            onControlThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
        ) {
            self.peer = peer
            self.parameters = parameters
            self.reply = reply
            self.cancellation = cancellation
            self.onControlThread = onControlThread
        }
    }

    /// Returns why a name is not that of a module that runs; nil for one that does, and where modules are unknown.
    var missingModule: @Sendable (String) -> NoSuchModule? = { _ in nil }

    /// The methods that add work for modules, and are refused where too much is in flight.
    static let addLoad: Set<String> = ["call", "canopen", "open", "post", "send"]

    /// The methods whose calls a client can cancel.
    static let cancellable: Set<String> = ["call", "open", "wait"]

    package typealias Handler = @Sendable (Call) -> Void

    private var handlers: [String: Handler] = [:]

    package init() {}

    /// The names, sorted.
    package var names: [String] { handlers.keys.sorted() }

    /// The handler of a method, without checks.
    package subscript(method: String) -> Handler? {
        get { handlers[method] }
        set { handlers[method] = newValue }
    }

    /// Adds a method that takes an object of named parameters.
    ///
    /// Parameters that do not decode as `Parameters`, or have further members, cause an error that names
    /// them; missing parameters are decoded from `{}`.
    ///
    /// - Parameters:
    ///   - method: The method's name.
    ///   - type: The type of its parameters.
    ///   - handler: Receives the parameters with the call.
    package mutating func add<Parameters: Decodable & SendableMetatype>(
        _ method: String, _ type: Parameters.Type,
        _ handler: @escaping @Sendable (Parameters, Call) -> Void
    ) {
        add(method, { value throws(JSONError) in try value.decode(Parameters.self) }, handler)
    }

    /// Adds a method whose parameters decode themselves directly.
    mutating func add<Parameters: PlainlyDecodable & SendableMetatype>(
        _ method: String, _ type: Parameters.Type,
        _ handler: @escaping @Sendable (Parameters, Call) -> Void
    ) {
        add(method, { value throws(JSONError) in try value.decode(Parameters.self) }, handler)
    }

    private mutating func add<Parameters>(
        _ method: String, _ read: @escaping @Sendable (JSONValue) throws(JSONError) -> Parameters,
        _ handler: @escaping @Sendable (Parameters, Call) -> Void
    ) {
        handlers[method] = { call in
            let parameters: Parameters
            do throws(JSONError) {
                parameters = try read(call.parameters ?? .emptyObject)
            } catch {
                return call.reply.fail(Self.error(of: error))
            }
            handler(parameters, call)
        }
    }

    /// Reads the parameters of a request.
    ///
    /// - Throws: The error that answers the request, which has each diagnostic.
    static func read<Parameters: Decodable & SendableMetatype>(
        _ type: Parameters.Type, from parameters: JSONValue?
    ) throws(RPCError) -> Parameters {
        do throws(JSONError) {
            return try (parameters ?? .emptyObject).decode(type)
        } catch {
            throw Self.error(of: error)
        }
    }

    private static func error(of error: JSONError) -> RPCError {
        .invalidParameters(error.diagnostics.map(text(of:)).joined(separator: "; "))
    }

    /// Adds a method without parameters; empty ones count as none.
    package mutating func add(_ method: String, _ handler: @escaping Handler) {
        handlers[method] = { call in
            guard call.parameters?.count ?? 0 == 0 else {
                return call.reply.fail(.invalidParameters("'\(method)' takes none"))
            }
            handler(call)
        }
    }

    /// Returns a diagnostic with its place among the parameters; the place in the whole message is not
    /// useful.
    private static func text(of diagnostic: JSONDiagnostic) -> String {
        let place = diagnostic.pointer.split(separator: "/").dropFirst().map { "/\($0)" }.joined()
        return place.isEmpty ? diagnostic.message : "\(place): \(diagnostic.message)"
    }
}
