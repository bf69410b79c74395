/// The answer of a module to an event for which nothing waited.
enum EventAnswer: Sendable {
    case reply(EventReply)
    case failed(DescribedError)
    /// It has not answered in time, or is gone.
    case none
    /// It receives the event later, at its own wish.
    case later

    /// Returns the answer of a module of which two parts have answered.
    func joined(with other: EventAnswer) -> EventAnswer {
        switch (self, other) {
        case (.failed, _): self
        case (_, .failed): other
        case (.none, _), (.later, _): other
        case (_, .none), (_, .later): self
        case (.reply(let first), .reply(let second)): .reply(first.joined(with: second))
        }
    }
}

extension EventReply {
    fileprivate func joined(with other: EventReply) -> EventReply {
        switch (self, other) {
        case (.fetch(let first), .fetch(let second)): .fetch(first.joined(with: second))
        case (.fetch, _), (_, .notConcerned), (_, .open): self
        case (_, .fetch), (.notConcerned, _), (.open, _): other
        case (.received, _): self
        default: other
        }
    }
}
