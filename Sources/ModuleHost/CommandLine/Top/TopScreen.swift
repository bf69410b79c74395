import AppService

/// The table of `hostd top` on a terminal, until a key or a signal ends it.
///
/// A thread of its own waits for each answer of the host, so that keys work while the host is busy.
struct TopScreen {
    private typealias Answer = Result<TopSample, HostClientError>

    private let arguments: Arguments
    private let interval: Duration
    private let colors = Console.hasColors
    private let mail = Mail()
    private var table: TopTable
    private var client: HostClient?
    /// The time of the question that is not answered; nil where there is none.
    private var askedAt: ContinuousClock.Instant?
    /// The reason why no host answers.
    private var problem: HostClientError?
    private var hasSeenHost = false

    private final class Mail: Sendable {
        let answer = Guarded<Answer?>(nil)
    }

    init(_ arguments: Arguments, _ table: TopTable, every interval: Duration) {
        (self.arguments, self.table, self.interval) = (arguments, table, interval)
    }

    /// Draws until the end.
    consuming func run() -> ExitCode {
        do {
            let screen = try TerminalScreen()
            let end = Result { try run(on: screen) }
            screen.leave()
            guard let signal = try end.get() else { return .success }
            Interruption.end(by: signal, screen.before)
            return .success
        } catch {
            let reason = "\(error)"
            Console.printError("\(arguments.title): \(reason)")
            return (error as? HostClientError)?.exitCode ?? .inputOutput
        }
    }

    /// - Returns: The signal that ended it; nil for a key.
    private mutating func run(on screen: TerminalScreen) throws -> Int32? {
        var next = ContinuousClock.now
        while true {
            if ContinuousClock.now >= next || problem != nil {
                try ask(on: screen)
                next = .now + interval
            }
            // Otherwise the terminal is gone.
            guard draw() == .success else { return nil }
            switch screen.wait(until: min(next, .now + .seconds(1))) {
            case .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")): return nil
            case .key(UInt8(ascii: " ")): table.page += 1
            case .key(let key): table.order = TopTable.Order(key: key) ?? table.order
            case .signal(let signal): return signal
            case .rung: try takeAnswer()
            case .redraw: break
            }
        }
    }

    /// Asks the host, unless it has yet to answer; looks for one where there is none.
    private mutating func ask(on screen: TerminalScreen) throws {
        guard askedAt == nil else { return }
        do {
            let client =
                try client
                ?? HostClient(
                    to: arguments.stateDirectory, within: .milliseconds(200))
            self.client = client
            askedAt = .now
            try NativeThread.start(name: "metrics") { [mail] in
                let result = Answer { () throws(HostClientError) in
                    TopSample(try client.call("metrics"))
                }
                mail.answer.withLock { $0 = result }
                screen.ring()
            }
        } catch let error as HostClientError {
            try note(error)
        }
    }

    private mutating func takeAnswer() throws {
        guard let answer = mail.answer.withLock({ $0.take() }) else { return }
        askedAt = nil
        switch answer {
        case .success(let sample):
            table.take(sample)
            (hasSeenHost, problem) = (true, nil)
        case .failure(let error): try note(error)
        }
    }

    /// Notes why the host does not answer.
    ///
    /// - Throws: The error, if no later host would answer either.
    private mutating func note(_ error: HostClientError) throws {
        guard error.isPassing else { throw error }
        (client, problem) = (nil, error)
    }

    private var notice: String? {
        switch problem {
        case .ended, .notRunning:
            return hasSeenHost
                ? "the host has ended; waiting for the next one" : "no host runs; waiting for one"
        case let problem?: return "\(problem)"
        case nil: break
        }
        if let askedAt, ContinuousClock.now - askedAt >= .seconds(1) {
            let time = ageText(seconds: Int((ContinuousClock.now - askedAt).components.seconds))
            return "no answer for \(time): the host is busy; the table is the last one"
        }
        return table.busyNotice
    }

    /// Draws the screen, in one write.
    private func draw() -> ExitCode {
        let size = TerminalScreen.size ?? (80, 24)
        let lines = table.lines(
            width: size.width, height: size.height, notice: notice, colors: colors)
        // Cleared before its text: behind a line of full width the last character would be cleared.
        return Console.write("\u{1B}[H\u{1B}[K\(lines.joined(separator: "\n\u{1B}[K"))")
    }
}
