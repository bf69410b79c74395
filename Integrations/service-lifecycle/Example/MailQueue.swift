import ServiceLifecycle

// A service as people have them: it does not know of ModuleHost.

/// Sends mails one after the other; those that were accepted are sent before it shuts down.
struct MailQueue: Service {
    private let mails: AsyncStream<String>
    private let accepting: AsyncStream<String>.Continuation

    init() { (mails, accepting) = AsyncStream.makeStream() }

    /// Accepts a mail, which is sent unless the queue is cancelled.
    ///
    /// - Throws: ``Closed`` if the queue shuts down or has ended.
    func accept(_ mail: String) throws {
        guard case .enqueued = accepting.yield(mail) else { throw Closed() }
    }

    func run() async throws {
        defer { accepting.finish() }
        try await withGracefulShutdownHandler {
            for await mail in mails { try await send(mail) }
        } onGracefulShutdown: {
            accepting.finish()
        }
    }

    /// Takes the time that a server would.
    @concurrent private func send(_ mail: String) async throws {
        try await Task.sleep(for: .milliseconds(500))
        print("sent: \(mail)")
    }

    /// The error of a mail that comes too late.
    struct Closed: Error, CustomStringConvertible {
        let description = "the mail queue is closed: the mail was not accepted. Send it again later"
    }
}
