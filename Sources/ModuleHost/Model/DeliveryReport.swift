/// What became of a message that was sent to every responder of a kind.
public struct DeliveryReport: Hashable, Sendable {
    /// How many were told and returned.
    public var delivered = 0
    /// How many were told and threw.
    ///
    /// Each was reported under its name.
    public var failed = 0
    /// How many were not told because they are late.
    ///
    /// A typed message does not wait for them.
    public var late = 0
    /// Why the sending itself came to nothing, if it did.
    public var refusal: Refusal?

    /// Why a message was not sent at all, or not to all.
    public enum Refusal: Hashable, Sendable {
        /// Responders already call each other 64 deep.
        case tooDeep
        /// The host has stopped.
        case stopped
    }

    /// Creates the report of a message that nobody heard.
    public init() {}
}

extension DeliveryReport {
    /// Tells one more, and counts what comes of it.
    @inlinable @inline(__always)
    mutating func count(_ tell: () throws -> Void) throws {
        do {
            try tell()
            delivered += 1
        } catch {
            failed += 1
            throw error
        }
    }
}
