import Synchronization

/// The threads that lost the lane and have not returned, with the modules on their stacks.
///
/// Guarded by the lane's lock.
struct StalledThreads {
    /// A thread that lost the lane.
    struct Stalled {
        let thread: LaneThread
        /// The modules on its stack, outermost first.
        let slots: [ModuleSlot]
    }

    private var all: [Stalled] = []

    mutating func add(_ thread: LaneThread, in slots: [ModuleSlot]) {
        all.append(Stalled(thread: thread, slots: slots))
    }

    /// Returns whether a thread has yet to report the outcome of the modules on its stack.
    func contains(besides slots: [ModuleSlot] = []) -> Bool {
        all.contains { stalled in
            stalled.slots.contains { slot in !slots.contains { $0 === slot } }
        }
    }

    func stalled(of thread: LaneThread) -> Stalled? { all.first { $0.thread === thread } }

    /// Returns the thread with an identity, if it has lost the lane.
    func thread(_ identity: UInt) -> LaneThread? {
        all.first { $0.thread.identity.load(ordering: .relaxed) == identity }?.thread
    }

    mutating func end(_ stalled: Stalled) { all.removeAll { $0.thread === stalled.thread } }
}
