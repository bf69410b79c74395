import AppService

/// What other threads have for the thread of the inbox.
final class InboxMailbox: Sendable {
    struct Letters {
        var submissions: [InboxSubmission] = []
        /// Whose events may come.
        weak var host: Host?
        /// Whether nothing more is to be handed to the lane.
        var isClosed = false
        /// Whether the thread is to end.
        var isEnding = false
        fileprivate var bytes = 0
    }

    private let letters = Guarded(Letters())
    /// What wakes the thread that takes them.
    let bell: Doorbell

    init() throws(SystemError) { bell = try Doorbell() }

    /// Has the thread look at everything once more.
    func wake() { bell.ring() }

    /// - Returns: Why it is refused, if it is.
    func add(_ submission: InboxSubmission, limit: Int) -> (any Error)? {
        let fault = letters.withLock { letters -> InboxRefusal? in
            if letters.isEnding { return .ending }
            guard letters.bytes + submission.line.count <= limit || letters.bytes == 0 else {
                return .full(bytes: letters.bytes)
            }
            letters.bytes += submission.line.count
            letters.submissions.append(submission)
            return nil
        }
        if fault == nil { wake() }
        return fault
    }

    func open(_ host: Host) {
        letters.withLock { $0.host = host }
        wake()
    }

    func close() { letters.withLock { ($0.isClosed, $0.host) = (true, nil) } }

    func end() {
        letters.withLock { $0.isEnding = true }
        wake()
    }

    /// Takes what was handed in.
    func take() -> Letters {
        letters.withLock { letters in
            let taken = letters
            letters.submissions = []
            letters.bytes = 0
            return taken
        }
    }
}

/// Why an inbox takes nothing.
enum InboxRefusal: Error, Hashable, CustomStringConvertible {
    case none
    case ending
    case full(bytes: Int)

    var description: String {
        switch self {
        case .none: "this host has no inbox"
        case .ending: "the host ends"
        case .full(let bytes):
            "\(bytes >> 20) MiB wait to be written already, faster than the disk takes them; try again"
        }
    }
}
