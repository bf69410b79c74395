import AppService

/// The outcome of a request to restart a module.
enum RestartOutcome: Hashable, Sendable {
    case reload(ReloadOutcome)
    /// The process did not respond and was killed: it is restarted as after any death.
    case killed
    /// The module is lazy and not made: the next use of it makes it.
    case notMade
}

extension AppHost {
    /// Recreates a module, like a reload whose slatefile changes it.
    ///
    /// Another one is created and launched, takes its place between two events, and the old one receives the
    /// shutdown events and is released. Where the new one cannot be created or launched the old one stays.
    ///
    /// The process of a module that is overdue is killed; an overdue module of this process is recreated when
    /// it returns.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - origin: The origin of the request.
    ///   - stopsFirst: Whether the old instance is stopped before the new one is made, whatever the entry says.
    ///   - completion: Called once, on any thread; with ``NoSuchModule`` where there is none.
    func restart(
        _ module: String, origin: Origin, stopsFirst: Bool = false,
        completion: @escaping @Sendable (Result<RestartOutcome, any Error>) -> Void
    ) {
        let pending = CallCompletion(completion)
        gate.lane.enqueue(
            LaneWork { [app] thread in
                app.open(on: thread).restart(
                    module, origin: origin, stopsFirst: stopsFirst, pending)
            } onAbandon: {
                pending.finish(.success(.reload(.stopped)))
            })
    }
}

extension App {
    /// Returns the module that a request names, or finishes the request.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - completion: Finished with ``NoSuchModule`` where there is none.
    ///   - unmade: Its outcome where the module is not made.
    /// - Returns: The module; nil where the request is finished.
    func record<Outcome>(
        named name: String, orFinish completion: CallCompletion<Outcome>, unmade: Outcome
    ) -> ModuleRecord? {
        guard let place = calls?.table.contents.position(of: ModuleID(checked: name)) else {
            completion.finish(.failure(NoSuchModule(name: name, in: slatefile)))
            return nil
        }
        let record = record(at: place)
        if record == nil { completion.finish(.success(unmade)) }
        return record
    }

    fileprivate func restart(
        _ name: String, origin: Origin, stopsFirst: Bool,
        _ completion: CallCompletion<RestartOutcome>
    ) {
        guard calls != nil, !phase.isEnding else {
            return completion.finish(.success(.reload(.stopped)))
        }
        guard let record = record(named: name, orFinish: completion, unmade: .notMade) else {
            return
        }
        guard !(stopsFirst && record.entry.isMain) else {
            return completion.finish(
                .success(
                    .reload(
                        .rolledBack(
                            "the app cannot be without its main module: leave --stop-first out"))))
        }
        if isOverdue(record), let isolated = record.isolated {
            isolated.kill()
            return completion.finish(.success(.killed))
        }
        reloads.remake(
            [record.id], origin: origin, stopsFirst: stopsFirst,
            CallCompletion { completion.finish($0.map(RestartOutcome.reload)) })
    }
}
