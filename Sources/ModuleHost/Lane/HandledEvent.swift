/// An event that a module handles, and that the lane does not know as its current one.
struct HandledEvent: Sendable {
    /// That of the asynchronous handler that the current task runs.
    @TaskLocal static var current: HandledEvent?

    let event: LifecycleEvent
    private let slot: ModuleSlot

    init(_ event: LifecycleEvent, of slot: ModuleSlot) { (self.event, self.slot) = (event, slot) }

    /// Returns the event of a module: the code of another one, which the handler calls, has its own.
    static func current(of slot: ModuleSlot) -> LifecycleEvent? {
        current.flatMap { $0.slot === slot ? $0.event : nil }
    }
}
