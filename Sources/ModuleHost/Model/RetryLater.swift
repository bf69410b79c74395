import AppService

/// The error by which the asynchronous handler of a durable event says that it wants the event again later.
///
/// The module receives no events until then, and this one and those behind it after that, in order. Its inbox keeps them, up to
/// `keep` of its entry in the slatefile: the oldest beyond that are dead letters. It is not counted as a failure: a module that joins another
/// service throws it while that is away.
///
/// For an event that is not durable, or in a synchronous handler in the host's own process, it is an error like any other.
public struct RetryLater: Error, Hashable, Sendable, CustomStringConvertible {
    /// The time from now, from a millisecond to an hour; what is outside of that is taken as the nearest.
    public let time: Duration

    /// Creates the error.
    ///
    /// - Parameter time: The time after which the module receives events again.
    public init(after time: Duration) { self.time = time }

    /// The error in words.
    public var description: String { "wants the event again in \(time.briefText)" }
}
