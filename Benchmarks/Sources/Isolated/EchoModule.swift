import Glibc
import ModuleHost

/// What is said, and said again.
struct Words: Codable, Sendable {
    var text: String

    static let usual = Words(text: "the words of a message of usual length")
}

/// The module that has a process of its own: does the least a handler can do.
final class EchoModule: RoutedModule, MessageResponder {
    struct Configuration: Decodable, Sendable {
        /// The file that it notes each tick in, as two numbers: which one, and when.
        var journal: String?
    }

    let topics = ["tick", "trap"]
    private let configuration: Configuration
    private let journal: Int32?

    init(context: ModuleContext) throws {
        configuration = try context.config(Configuration.self)
        journal = configuration.journal.map {
            open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }
    }

    static var routes: [Route<EchoModule>] {
        [
            Route("echo") { (_, words: Words, _) in words },
            Route("process") { (_, _) in Int(getpid()) },
        ]
    }

    func receive(_ message: Message) {
        if message.topic == "trap" { return trapOnce() }
        if let tick = message.payload?.int { note(tick) }
    }

    private func note(_ tick: Int) {
        guard let journal else { return }
        let line = [tick, nanoseconds()]
        _ = line.withUnsafeBytes { write(journal, $0.baseAddress, $0.count) }
    }

    /// It receives the event again, when it is back.
    private func trapOnce() {
        guard let path = configuration.journal else { return }
        let file = open(path + ".trapped", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        note(-1)
        fatalError("trapped on demand")
    }
}
