/// The answer of a module to an event for which nothing waited.
enum EventAnswer: Sendable {
    case reply(EventReply)
    case failed(DescribedError)
    /// It has not answered in time, or is gone.
    case none
}
