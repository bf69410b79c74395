import AppService

/// The outcome of a request to unload a module.
enum UnloadOutcome: Hashable, Sendable {
    case unloaded
    /// It is not made: there is nothing to unload.
    case notMade
    /// It stays, for this reason.
    case refused(String)
}

extension AppHost {
    /// Unloads a lazy module: it receives the shutdown events and is released, and is made again when it is needed.
    ///
    /// Its work and its unanswered calls are cancelled, as at a reload that removes it. Its holds on the shutdown
    /// events are waited for.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - completion: Called once, on any thread; with ``NoSuchModule`` where there is none, and with
    ///     ``RouteError/stopped`` where the app stops.
    func unload(_ module: String, completion: @escaping CompletionHandler<UnloadOutcome>) {
        let pending = CallCompletion(completion)
        onLane { app, _ in app.unload(module, pending) }
    }
}

extension App {
    fileprivate func unload(
        _ name: String, _ completion: CallCompletion<UnloadOutcome>, hasWaited: Bool = false
    ) {
        guard calls != nil, !phase.isEnding else {
            return completion.finish(.failure(RouteError.stopped))
        }
        guard let record = record(named: name, orFinish: completion, unmade: .notMade) else {
            return
        }
        if let reason = refusal(ofUnloading: record) {
            return completion.finish(.success(.refused(reason)))
        }
        guard gate.lane.isOpen(record.slot) else {
            return unloadOnDemand(record, because: "on demand") { _ in
                completion.finish(.success(.unloaded))
            }
        }
        guard !hasWaited else {
            return completion.finish(.success(.refused("\(record.id) has yet to answer an event")))
        }
        // What keeps it, or a stop, may have come by then.
        whenAnswered([record], endsWithTime: true) {
            $0.unload(name, completion, hasWaited: true)
        }
    }

    private func refusal(ofUnloading record: ModuleRecord) -> String? {
        guard record.isOnDemand else {
            if record.entry.ends {
                return
                    "\(record.id) ends by itself: to end it now, remove it from the slatefile and reload"
            }
            let what = "\(record.id) is made at launch"
            // The main module can be neither lazy nor missing.
            guard !record.entry.isMain else { return "\(what), and the app cannot be without it" }
            return
                "\(what): add \"launch\": \"lazy\" to its entry, or remove it from the slatefile and reload"
        }
        guard phase == .running else { return "a reload is in progress: try again when it is over" }
        return obstacle(toUnloading: record, isIdle: false).map { "\(record.id) \($0)" }
    }

}
