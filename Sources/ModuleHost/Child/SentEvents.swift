/// The events that the host has sent to this process and that are not answered.
struct SentEvents {
    struct Sent {
        let id: RPCID?
        /// The error that the module threw.
        fileprivate(set) var failure: DescribedError?
    }

    private var all: [Int: Sent] = [:]
    private var last = 0

    /// Adds an event.
    ///
    /// - Parameter id: The id for its response.
    /// - Returns: The number that the event is to have.
    mutating func begin(_ id: RPCID?) -> Int {
        last += 1
        all[last] = Sent(id: id)
        return last
    }

    /// Notes an error of the module; the first one is the answer.
    mutating func note(_ error: any Error, in event: LifecycleEvent) {
        guard let sent = all[event.request], sent.failure == nil else { return }
        all[event.request]?.failure = DescribedError(error)
    }

    /// Removes an event that has its outcome; nil for one that was not sent.
    mutating func end(_ event: LifecycleEvent) -> Sent? { all.removeValue(forKey: event.request) }
}
