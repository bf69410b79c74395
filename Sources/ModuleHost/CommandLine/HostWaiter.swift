import AppService

/// The wait of a command for a host that may not run yet.
struct HostWaiter {
    /// The longest wait unless another one is given.
    static let time: Duration = .seconds(60)
    /// The longest time between two looks for a host, beside those when the socket changes.
    private static let interval: Duration = .seconds(1)
    /// The longest wait that one host is asked for.
    private static let step: Duration = .seconds(3600)

    private let arguments: Arguments
    private let directory: StateDirectory
    /// The end of the wait; nil for none.
    private let deadline: ContinuousClock.Instant?

    init(_ arguments: Arguments, within limit: Duration?) {
        self.arguments = arguments
        directory = arguments.stateDirectory
        deadline = limit.map { .now + $0 }
    }

    /// Waits until a host answers.
    ///
    /// - Parameters:
    ///   - announce: Called once if there is none, or one that stops, with the reason.
    ///   - ask: Asks a host.
    /// - Returns: The answer.
    /// - Throws: ``HostClientError`` where no later host would answer either, or when the time is up.
    func firstAnswer<Answer>(
        announcing announce: (HostClientError) -> Void,
        _ ask: (HostClient) throws(HostClientError) -> Answer
    ) throws(HostClientError) -> Answer {
        var isAnnounced = false
        return try untilAnswered { error in
            if !isAnnounced { announce(error) }
            isAnnounced = true
        } _: { () throws(HostClientError) in
            try ask(try HostClient(to: directory, within: HostClient.patience))
        }
    }

    /// Waits.
    ///
    /// - Returns: The outcome: `met`, `failed`, `waiting`, or `no-host`, with the reason.
    /// - Throws: ``HostClientError`` where no later host would answer either.
    func wait() throws(HostClientError) -> JSONValue {
        do throws(HostClientError) {
            return try untilAnswered { _ in
            } _: { () throws(HostClientError) in
                let limit = min(max(rest, .milliseconds(1)), Self.step)
                let outcome = try ask(within: limit)
                let isFinal = limit < Self.step || outcome["outcome"]?.string != "waiting"
                return isFinal ? outcome : nil
            }
        } catch {
            guard error.isPassing else { throw error }
            return outcome(after: error)
        }
    }

    /// Asks until there is an answer, each time that a host may have come.
    ///
    /// - Parameters:
    ///   - note: Receives each error after which a later host may answer.
    ///   - ask: Returns nil to be called again at once.
    private func untilAnswered<Answer>(
        _ note: (HostClientError) -> Void, _ ask: () throws(HostClientError) -> Answer?
    ) throws(HostClientError) -> Answer {
        // Before the first look, so that no host is missed.
        let watch = try? PathWatch(directory.path(of: StateDirectory.socketName))
        while true {
            do throws(HostClientError) {
                if let answer = try ask() { return answer }
                continue
            } catch {
                guard error.isPassing, !isOver else { throw error }
                note(error)
            }
            pause(watch)
        }
    }

    private var isOver: Bool { rest <= .zero }

    /// The time that is left.
    private var rest: Duration { deadline.map { $0 - .now } ?? Self.step }

    private func ask(within limit: Duration) throws(HostClientError) -> JSONValue {
        let client = try HostClient(to: directory, within: limit)
        return try client.call("wait", within: limit + HostClient.waitGrace) {
            HostClient.writeWait(
                for: arguments["for"], ready: arguments["for"] == nil || arguments.has("ready"),
                within: limit, to: &$0)
        }
    }

    private func pause(_ watch: PathWatch?) {
        let time = min(rest, Self.interval)
        guard let watch, (try? watch.awaitChanges(within: time)) != nil else {
            _ = Signals.wait(for: SignalSet(), until: .now + time)
            return
        }
    }

    /// Returns the outcome when the time is up and no host answers.
    private func outcome(after error: HostClientError) -> JSONValue {
        var (word, reason) = ("waiting", "\(error)")
        if case .notRunning = error {
            word = "no-host"
            CurrentProcess.actAsOwner(of: directory.path)
            let left = try? WhyReport.left(
                in: directory, of: nil, program: arguments.program.name, at: .now())
            if let left { reason = left.summary }
        }
        return JSONValue { json in
            json.object {
                $0.member("outcome", word)
                $0.member("reason", reason)
            }
        } ?? .emptyObject
    }
}

extension HostClientError {
    /// Whether the error is one of a host that starts or stops, or of none: a later one may answer.
    var isPassing: Bool {
        switch self {
        case .notRunning, .notListening, .ended, .timedOut, .noResponse: true
        case .refused(let error): error.code == .notRunning
        case .notPermitted, .failed, .cancelled, .malformed, .tooManyCalls: false
        }
    }
}
