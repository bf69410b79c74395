import AppService

/// The outcome of a request to restart a module.
enum RestartOutcome: Hashable, Sendable {
    case reload(ReloadOutcome)
    /// Its process did not answer and was killed: it comes back as after any death.
    case killed
}

/// There is no such module.
struct NoSuchModule: Error, Hashable, CustomStringConvertible {
    let name: String
    let nearest: String?

    var description: String {
        "no module \(quoted(name))" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    }
}

extension Host {
    /// Recreates a module, as a reload does whose slatefile changes it.
    ///
    /// Another one is made and launched, takes its place between two events, and the old one is notified of its
    /// end and released. Where it cannot be made or launched the old one stays.
    ///
    /// The process of a module that is overdue is killed; an overdue module of this process is recreated when it
    /// returns.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - origin: Who wants it.
    ///   - completion: Is called once, on whatever thread; with ``NoSuchModule`` where there is none.
    func restart(
        _ module: String, origin: Origin,
        completion: @escaping @Sendable (Result<RestartOutcome, any Error>) -> Void
    ) {
        let answer = Answer(completion)
        gate.lane.enqueue(
            LaneWork { [app] thread in
                app.open(on: thread).restart(module, origin: origin, answer)
            } onAbandon: {
                answer.give(.success(.reload(.stopped)))
            })
    }
}

extension App {
    fileprivate func restart(
        _ name: String, origin: Origin, _ answer: Answer<RestartOutcome>
    ) {
        guard calls != nil, !phase.isEnding else { return answer.give(.success(.reload(.stopped))) }
        guard let record = records.first(where: { $0.id.text == name }) else {
            let nearest = nearestName(to: name, in: records.map(\.id.text))
            return answer.give(.failure(NoSuchModule(name: name, nearest: nearest)))
        }
        if isOverdue(record), let isolated = record.module as? IsolatedModule {
            isolated.kill()
            return answer.give(.success(.killed))
        }
        reloads.remake(
            [record.id], origin: origin, Answer { answer.give($0.map(RestartOutcome.reload)) })
    }
}
