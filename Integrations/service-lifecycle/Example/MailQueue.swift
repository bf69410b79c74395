import ServiceLifecycle

// A service as people have them: it does not know of ModuleHost.

/// Sends mails one after the other; those that were accepted are sent before it shuts down.
struct MailQueue: Service {
    private let mails: AsyncStream<String>
    private let accepting: AsyncStream<String>.Continuation

    init() { (mails, accepting) = AsyncStream.makeStream() }

    /// Accepts a mail.
    func accept(_ mail: String) { accepting.yield(mail) }

    func run() async throws {
        await withGracefulShutdownHandler {
            for await mail in mails { await send(mail) }
        } onGracefulShutdown: {
            accepting.finish()
        }
    }

    /// Takes the time that a server would.
    @concurrent private func send(_ mail: String) async {
        try? await Task.sleep(for: .milliseconds(500))
        print("sent: \(mail)")
    }
}
