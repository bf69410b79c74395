import EventStreams
import Synchronization

/// A condition that is logged when it begins, and when it ends, however often it is met meanwhile.
final class Condition: Sendable {
    private let host: any BridgeHost
    /// The kind of the error that lasts.
    private let current = Mutex<String?>(nil)
    private let consequence: String
    private let end: String

    /// - Parameters:
    ///   - consequence: The sentence behind that of the error.
    ///   - end: The whole line at the end.
    init(_ host: any BridgeHost, consequence: String, end: String) {
        (self.host, self.consequence, self.end) = (host, consequence, end)
    }

    func begins(_ error: StreamError) {
        let kind =
            switch error {
            case .away: "away"
            case .full: "full"
            case .refused: "refused"
            case .diverged, .owned, .unexpected, .invalid: "other"
            }
        begins(kind, error.description)
    }

    func begins(_ kind: String, _ text: String) {
        let isNew = current.withLock { current in
            defer { current = kind }
            return current != kind
        }
        if isNew { host.warning("\(text). \(consequence)") }
    }

    func ends() {
        let wasThere = current.withLock { current in
            defer { current = nil }
            return current != nil
        }
        if wasThere { host.notice(end) }
    }
}
