import Dispatch

extension ModuleProcess {
    /// Requests the declaration of the process, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - time: The longest wait.
    ///   - said: The declaration of a process before it, which this one has to repeat.
    /// - Throws: ``ProcessExit`` where the process ended or was killed: for an invalid message, or because it
    ///   took too long.
    func initialize(
        _ context: ModuleIntroduction, within time: Duration, saidBefore said: ModuleDeclaration?
    ) throws(ProcessExit) -> ModuleDeclaration {
        let end = DispatchTime.after(time)
        var isReady = false
        let answer = try exchange("initialize", within: time) { request, id in
            isReady = takeReady(request, id) || isReady
        } _: { json in
            json.object {
                $0.member("protocol", ModuleProtocol.version)
                $0.member("host", HostVersion.current)
                $0.member("app", context.app)
                $0.member("module", context.id.text)
                $0.member("config", context.currentConfig)
                $0.member("appConfig", context.currentAppConfig)
                $0.member("stateDirectory", context.stateDirectory)
                if let id = context.hostID { $0.member("hostId", id) }
                if let deadlines = context.deadlines {
                    $0.member("deadlines") { deadlines.write(to: &$0) }
                }
                let providers = context.facadeProviders
                guard !providers.isEmpty else { return }
                $0.member("providers") {
                    $0.objects(for: providers) { provider, json in
                        json.member("module", provider.module.text)
                        json.member("entry", provider.entry)
                    }
                }
            }
        }
        output.rest()
        let declaration: ModuleDeclaration
        switch answer {
        case .failure(let error):
            throw die(of: "answered 'initialize' with an error: \(error.description)")
        case .success(let result):
            let isReadyAtOnce: Bool
            do throws(DeclarationError) {
                (declaration, isReadyAtOnce) = try ModuleDeclaration.read(result, of: context.id)
            } catch {
                throw die(of: "\(error)")
            }
            isReady = isReady || isReadyAtOnce
        }
        if let said, said != declaration {
            throw die(
                of:
                    "answered 'initialize' with another protocol, other events, topics or routes than "
                    + "the one before it")
        }
        while !isReady {
            switch queue.next(until: end) {
            case .message(.request(let request, let id)): isReady = takeReady(request, id)
            case .message(.answer): continue
            case .end(let end): throw end
            case .nothing:
                kill(because: .silence("send 'ready'", time))
                throw waitForEnd()
            }
        }
        return declaration
    }

    /// Kills the process for an invalid message, and waits for its end.
    private func die(of what: String) -> ProcessExit {
        violate(what)
        return waitForEnd()
    }

    private func waitForEnd() -> ProcessExit {
        while true {
            if case .end(let end) = queue.next(until: .distantFuture) { return end }
        }
    }

    /// Handles requests that arrive before the process is ready.
    ///
    /// - Returns: Whether the request states that it is ready.
    private func takeReady(_ request: RPCRequest, _ id: RPCID?) -> Bool {
        switch request.method {
        case "ready":
            succeed(id) { $0.null() }
            return true
        case "log": succeed(id) { $0.null() }
        default: refuse(request, id, "the module is not ready yet")
        }
        return false
    }

    // MARK: Responses

    /// Responds to a request with a result; a notification gets no response.
    func succeed(_ id: RPCID?, _ result: (inout JSONWriter) -> Void) {
        guard let id else { return }
        var json = JSONWriter(capacity: 128)
        json.rpcResult(id: id, result)
        send(json.bytes)
    }

    /// Responds to a request with an error.
    func fail(_ id: RPCID?, _ error: RPCError) {
        guard let id else { return }
        var json = JSONWriter(capacity: 128)
        json.rpcError(error, id: id)
        send(json.bytes)
    }

    /// Responds that a request cannot be fulfilled now.
    func refuse(_ request: RPCRequest, _ id: RPCID?, _ reason: String) {
        fail(id, RPCError(.notRunning, "\(request.method): \(reason)"))
    }
}
