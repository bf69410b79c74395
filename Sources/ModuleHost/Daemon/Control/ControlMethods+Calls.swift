/// The parameters of `open` and `canopen`.
private struct URLParameters: PlainlyDecodable, Sendable {
    let url: String
    let token: TokenText?

    init?(plain value: JSONValue) {
        guard value.kind == .object, let url = value["url"]?.string else { return nil }
        var token: TokenText?
        for member in value.members {
            switch member.key {
            case "url": break
            case "token":
                guard let text = TokenText(plain: member.value) else { return nil }
                token = text
            default: return nil
            }
        }
        (self.url, self.token) = (url, token)
    }
}

/// The parameters of `call`.
private struct ActionParameters: PlainlyDecodable, Sendable {
    let module: String
    let action: String
    /// An object.
    let parameters: JSONValue?
    let token: TokenText?

    init?(plain value: JSONValue) {
        guard value.kind == .object, let module = value["module"]?.string,
            let action = value["action"]?.string
        else { return nil }
        var (parameters, token): (JSONValue?, TokenText?)
        for member in value.members {
            switch member.key {
            case "module", "action": break
            case "parameters": parameters = member.value.isNull ? nil : member.value
            case "token":
                guard let text = TokenText(plain: member.value) else { return nil }
                token = text
            default: return nil
            }
        }
        (self.module, self.action) = (module, action)
        (self.parameters, self.token) = (parameters, token)
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
            host.open(
                parameters.url, origin: call.peer.origin, token: parameters.token?.token
            ) { call.reply.give($0) }
        }
        add("canopen", URLParameters.self) { parameters, call in
            host.canOpen(
                parameters.url, origin: call.peer.origin, token: parameters.token?.token
            ) { result in
                call.reply.give(result.mapError(RPCError.init(ofCall:))) { $1.value($0) }
            }
        }
        add("call", ActionParameters.self) { parameters, call in
            let object = parameters.parameters ?? .emptyObject
            guard object.kind == .object else {
                return call.reply.fail(
                    .invalidParameters("/parameters: expected an object, found \(object.inWords)"))
            }
            host.call(
                parameters.module, parameters.action, RouteParameters(object),
                origin: call.peer.origin, token: parameters.token?.token
            ) { call.reply.give($0) }
        }
        add("post", Message.self) { parameters, call in
            // The response would not arrive any more.
            guard !host.isStopping else { return call.reply.fail(RPCError(RouteError.stopped)) }
            do throws(EventError) {
                try host.post(
                    parameters.topic, parameters.payload, origin: call.peer.origin,
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

extension RPCError {
    /// Creates the error for a caller from outside from the error of a call.
    init(ofCall error: any Error) {
        switch error {
        case let error as RouteError: self.init(error)
        case let error as ParameterError: self.init(.badParameter, "\(error)")
        case let failure as HandlerFailure:
            self.init(.failed, "\(failure.module) failed: \(failure.error)")
        default: self = .internalError("\(error)")
        }
    }

    fileprivate init(_ error: RouteError) {
        let code: RPCErrorCode =
            switch error {
            case .notFound, .noAction, .noModule: .notFound
            case .malformed: .malformedURL
            case .parameter: .badParameter
            case .refused: .notPermitted
            case .overdue, .tookTooLong, .noAnswerInTime: .overdue
            case .unavailable: .unavailable
            case .tooDeep, .notAnswered, .answersLater, .offLane: .failed
            case .stopped, .stoppedUnanswered: .notRunning
            // Errors in the app's own routes and rewrites are not caused by the caller.
            case .pattern, .conflict, .unknownModule, .rewriteLoop, .rewrite, .building,
                .otherModule, .repeatedAction, .reply:
                .internalError
            }
        self.init(code, "\(error)")
    }
}
