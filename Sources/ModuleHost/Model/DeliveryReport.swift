/// The result of sending a message to every conforming responder.
public struct DeliveryReport: Hashable, Sendable {
    /// The number of responders that were notified and returned.
    public var delivered = 0
    /// The number of responders that were notified and threw.
    ///
    /// Each was reported under its name.
    public var failed = 0
    /// The number of responders that were not notified because they are overdue.
    ///
    /// A typed message does not wait for them.
    public var overdue = 0
    /// The reason why the message was not sent, if it was not.
    public var refusal: Refusal?

    /// The reason why a message was not sent at all, or not to all responders.
    public enum Refusal: Hashable, Sendable {
        /// Responders already call each other 64 deep.
        case tooDeep
        /// The host has stopped.
        case stopped
    }

    /// Creates the report of a message that no module received.
    public init() {}
}

extension DeliveryReport {
    /// Runs one delivery, and counts its result.
    @inlinable @inline(__always)
    mutating func count(_ body: () throws -> Void) throws {
        do {
            try body()
            delivered += 1
        } catch {
            failed += 1
            throw error
        }
    }
}
