import AppService

/// Work that waits until modules have answered the events that they have.
final class AnswerWaiter<Owner> {
    let slots: [ModuleSlot]
    private let body: (Owner) -> Void
    /// Ends the wait.
    var alarm: (any Alarm)?

    init(_ slots: [ModuleSlot], _ body: @escaping (Owner) -> Void) {
        (self.slots, self.body) = (slots, body)
    }

    func end(_ owner: Owner) {
        alarm?.cancel()
        body(owner)
    }
}
