/// The parameters of `canopen`.
private struct OpennessParameters: Decodable, Sendable {
    let url: String
    let token: TokenText?
    /// Whether the result is an object that names the `instead` of a failed module, too.
    let explains: Bool

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case url, token, explain
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        url = try members.decode(String.self, forKey: .url)
        token = try members.decodeIfPresent(TokenText.self, forKey: .token)
        explains = try members.decodeIfPresent(Bool.self, forKey: .explain) ?? false
    }
}

/// The parameters of `open`.
private struct URLParameters: PlainlyDecodable, Sendable {
    let url: String
    let token: TokenText?
    let traceparent: TraceContext?

    init?(plain value: JSONValue) {
        guard value.kind == .object, let url = value["url"]?.string else { return nil }
        var (token, trace): (TokenText?, TraceContext?)
        for member in value.members {
            switch member.key {
            case "url": break
            case "token":
                guard let text = TokenText(plain: member.value) else { return nil }
                token = text
            case "traceparent":
                guard let found = TraceContext(plain: member.value) else { return nil }
                trace = found
            default: return nil
            }
        }
        (self.url, self.token, traceparent) = (url, token, trace)
    }
}

/// The parameters of `call`.
private struct ActionParameters: PlainlyDecodable, Sendable {
    let module: String
    let action: String
    /// An object.
    let parameters: JSONValue?
    let token: TokenText?
    let traceparent: TraceContext?

    init?(plain value: JSONValue) {
        guard value.kind == .object, let module = value["module"]?.string,
            let action = value["action"]?.string
        else { return nil }
        var (parameters, token, trace): (JSONValue?, TokenText?, TraceContext?)
        for member in value.members {
            switch member.key {
            case "module", "action": break
            case "parameters": parameters = member.value.isNull ? nil : member.value
            case "token":
                guard let text = TokenText(plain: member.value) else { return nil }
                token = text
            case "traceparent":
                guard let found = TraceContext(plain: member.value) else { return nil }
                trace = found
            default: return nil
            }
        }
        (self.module, self.action) = (module, action)
        (self.parameters, self.token, traceparent) = (parameters, token, trace)
    }
}

extension TraceContext {
    /// Reads one among the parameters of a method; nil for another value.
    init?(plain value: JSONValue) {
        guard let text = value.string else { return nil }
        self.init(text)
    }
}

/// A token among the parameters of a method: a value of another type in its place is not shown either.
private struct TokenText: Decodable, Sendable {
    let token: RouteToken?

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer().decode(JSONValue.self)
        guard let text = Self(plain: value) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "a token is a string"))
        }
        self = text
    }

    init?(plain value: JSONValue) {
        guard let text = value.string else { return nil }
        token = text.isEmpty ? nil : RouteToken(text)
    }
}

extension ControlMethods {
    /// Adds `open`, `canopen`, `call` and `post`.
    mutating func addCalls(to host: AppHost) {
        add("open", URLParameters.self) { parameters, call in
            let cancel = host.open(
                parameters.url, origin: call.peer.origin, token: parameters.token?.token,
                trace: parameters.traceparent
            ) { result in
                call.reply.give(result)
                call.cancellation?.end()
            }
            call.cancellation?.whenCancelled(cancel)
        }
        add("canopen", OpennessParameters.self) { parameters, call in
            host.openness(
                of: parameters.url, origin: call.peer.origin, token: parameters.token?.token
            ) { result in
                call.reply.give(result.mapError(RPCError.init(ofCall:))) { openness, json in
                    guard parameters.explains else { return json.value(openness.isOpen) }
                    json.object {
                        $0.member("canOpen", openness.isOpen)
                        if let instead = openness.instead {
                            $0.member("instead") { instead.write(to: &$0) }
                        }
                    }
                }
            }
        }
        add("call", ActionParameters.self) { parameters, call in
            let object = parameters.parameters ?? .emptyObject
            guard object.kind == .object else {
                return call.reply.fail(
                    .invalidParameters("/parameters: expected an object, found \(object.inWords)"))
            }
            let cancel = host.call(
                parameters.module, parameters.action, RouteParameters(object),
                origin: call.peer.origin, token: parameters.token?.token,
                trace: parameters.traceparent
            ) { result in
                if case .failure(let error as RouteError) = result, case .noModule = error,
                    let missing = host.missingModule(parameters.module)
                {
                    // It may be there, and not enabled.
                    call.reply.fail(RPCError(missing))
                } else {
                    call.reply.give(result)
                }
                call.cancellation?.end()
            }
            call.cancellation?.whenCancelled(cancel)
        }
        add("post", PostRequest.self) { parameters, call in
            // The response would not arrive any more.
            guard !host.isStopping else {
                return call.reply.fail(RPCError(ofCall: RouteError.stopped))
            }
            do throws(EventError) {
                try host.post(
                    parameters.topic, parameters.payload, origin: call.peer.origin,
                    trace: parameters.traceparent,
                    load: call.reply.takeLoad())
                call.reply.succeed { $0.null() }
            } catch {
                call.reply.fail(.invalidParameters("\(error)"))
            }
        }
    }
}

extension SocketPeer {
    /// The origin of its calls, as modules receive it.
    var origin: Origin { .control(uid: userID, pid: processID) }
}

extension RPCReply {
    fileprivate func give(_ result: Result<AppHost.CallReply, any Error>) {
        give(result.mapError(RPCError.init(ofCall:))) { reply, json in
            json.object {
                switch reply {
                case .json(let text): $0.member("reply", raw: text)
                case .claimed(let module): $0.member("claimedBy", module.text)
                }
            }
        }
    }
}
