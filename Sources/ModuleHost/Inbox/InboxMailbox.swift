import AppService

/// The requests of other threads to the thread of the inbox.
final class InboxMailbox: Sendable {
    struct Letters {
        var submissions: [InboxSubmission] = []
        /// The host that receives events.
        weak var host: (any InboxHost)?
        /// The modules that it had when it was ready.
        var modules: Set<ModuleID> = []
        /// Whether nothing more is to be passed to the lane.
        var isClosed = false
        /// Whether the thread is to end.
        var isEnding = false
        /// Whether submissions with an id wait until their ids can be looked up.
        fileprivate(set) var isWaitedFor = false
        /// The submissions that wait.
        fileprivate var waiting: [InboxSubmission] = []
        /// The modules that have submitted some of these.
        fileprivate var waitingSenders: Set<ModuleID> = []
        fileprivate var bytes = 0
    }

    private let letters = Guarded(Letters())
    /// The doorbell of the thread that takes the requests.
    let bell: Doorbell

    init() throws(SystemError) { bell = try Doorbell() }

    /// Makes the thread check everything once more.
    func wake() { bell.ring() }

    /// - Returns: The reason why it is refused, if it is.
    func add(_ submission: InboxSubmission, limit: Int) -> (any Error)? {
        let refusal = letters.withLock { letters -> InboxRefusal? in
            if letters.isEnding { return .ending }
            guard letters.bytes + submission.line.count <= limit || letters.bytes == 0 else {
                return .full(bytes: letters.bytes)
            }
            letters.bytes += submission.line.count
            letters.submissions.append(submission)
            return nil
        }
        if refusal == nil { wake() }
        return refusal
    }

    func open(_ host: any InboxHost, of modules: Set<ModuleID>) {
        letters.withLock { ($0.host, $0.modules) = (host, modules) }
        wake()
    }

    func close() {
        letters.withLock { ($0.isClosed, $0.host) = (true, nil) }
        wake()
    }

    func end() {
        letters.withLock { $0.isEnding = true }
        wake()
    }

    /// Takes the submissions.
    ///
    /// - Parameter withIDs: Whether submissions with an id are taken as well; at the end they always are.
    func take(withIDs: Bool) -> Letters {
        letters.withLock { letters in
            var taken = letters
            // Before `letters.waiting` grows: a second reference would make it copy all that waits.
            (taken.waiting, taken.waitingSenders) = ([], [])
            if withIDs || letters.isEnding {
                if !letters.waiting.isEmpty {
                    taken.submissions.insert(contentsOf: letters.waiting, at: 0)
                }
                (letters.waiting, letters.waitingSenders) = ([], [])
            } else {
                taken.submissions = []
                for submission in letters.submissions {
                    // Not before an earlier one of its sender.
                    let waits =
                        submission.module.map(letters.waitingSenders.contains) ?? false
                    guard submission.id != nil || waits else {
                        taken.submissions.append(submission)
                        continue
                    }
                    letters.waiting.append(submission)
                    if let module = submission.module { letters.waitingSenders.insert(module) }
                }
            }
            taken.isWaitedFor = !letters.waiting.isEmpty
            letters.submissions = []
            letters.bytes -= taken.submissions.reduce(0) { $0 + $1.line.count }
            return taken
        }
    }
}

/// The reason why an inbox accepts nothing.
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
