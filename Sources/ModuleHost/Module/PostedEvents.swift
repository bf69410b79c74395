import Synchronization

/// The events that a module has posted and that are not delivered yet: a limited number, with a limited number of bytes.
///
/// Without a limit one module could fill the lane's list, and all modules would receive only its messages.
final class PostedEvents: Sendable {
    /// The limits of a module in the host.
    static let limit = 1 << 14
    static let byteLimit = 8 << 20

    private let limit: Int
    private let byteLimit: Int
    private let count = Atomic(0)
    private let bytes = Atomic(0)

    init(_ limit: Int = PostedEvents.limit, bytes byteLimit: Int = PostedEvents.byteLimit) {
        (self.limit, self.byteLimit) = (limit, byteLimit)
    }

    /// Notes an event that is about to be posted; ``leave(_:)`` has to follow once it is delivered.
    ///
    /// - Parameter footprint: The bytes that the event takes.
    /// - Returns: The limit that it would exceed, in words; nil if it was noted. A single event may be larger than all.
    func enter(_ footprint: Int) -> String? {
        guard count.add(1, ordering: .relaxed).newValue <= limit else {
            count.subtract(1, ordering: .relaxed)
            return "\(limit) of its events are yet to be delivered"
        }
        let before = bytes.add(footprint, ordering: .relaxed).oldValue
        guard before == 0 || before + footprint <= byteLimit else {
            leave(footprint)
            return "\(byteLimit >> 20) MiB of its events are yet to be delivered"
        }
        return nil
    }

    /// Notes that an event was delivered, or will not be any more.
    func leave(_ footprint: Int) {
        bytes.subtract(footprint, ordering: .relaxed)
        count.subtract(1, ordering: .relaxed)
    }
}
