import Dispatch
import Synchronization

/// One thread of the lane, from the moment it takes the lane to the moment it ends.
///
/// A lane has one owner at a time. A thread that lost the lane to another lives on until the module
/// that held it up returns, and has caught up. Then this object stands for the next thread that takes the
/// lane: it is not freed as long as the lane is there, since others look at the owner without counting a
/// reference.
///
/// `@unchecked Sendable`: `mine` and `place` are touched only by the thread itself, and before it runs by the
/// takeover that starts it, under the lane's lock; everything else is immutable or atomic. A second thread
/// that touched `mine` would be seen by `LaneTakeoverTests` under the thread sanitizer.
@usableFromInline
final class LaneThread: @unchecked Sendable {
    /// The word as this thread last set it.
    ///
    /// While the lane's word still equals it, the lane is ours.
    @inlinable @inline(__always)
    var mine: Ownership {
        get { mineAddress.pointee }
        set { mineAddress.pointee = newValue }
    }

    /// The address of that word: a stored property would be checked for exclusive access at
    /// each delivery, and only the thread itself touches it.
    @usableFromInline let mineAddress: UnsafeMutablePointer<Ownership>

    /// The slot whose code the thread runs since it lost the lane; nil while it is the same as then.
    ///
    /// Touched only by the thread itself.
    @usableFromInline var place: UInt16?

    /// Wakes the thread when it waits for work.
    let wake = DispatchSemaphore(value: 0)

    /// The identity of the thread; 0 until it runs.
    let identity = Atomic<UInt>(0)

    /// Whether this is the calling thread.
    var isCurrent: Bool { identity.load(ordering: .relaxed) == NativeThread.current }

    /// The responders below the innermost, by the depth at which each stands.
    ///
    /// Atomic only because a thread that has lost the lane without knowing it may write an equal
    /// value once more.
    private let outer: UnsafeMutablePointer<Atomic<UInt16>>
    /// Their stack in the black box, if there is one.
    let stack: BlackBox.Stack?

    init(mine: Ownership, stack: BlackBox.Stack? = nil) {
        self.stack = stack
        mineAddress = .allocate(capacity: 1)
        mineAddress.initialize(to: mine)
        if let stack {
            outer = stack.address
            return
        }
        outer = .allocate(capacity: CallDepth.maximum + 1)
        for depth in 0...CallDepth.maximum {
            (outer + depth).initialize(to: Atomic(0))
        }
    }

    deinit {
        mineAddress.deallocate()
        guard stack == nil else { return }
        outer.deinitialize(count: CallDepth.maximum + 1)
        outer.deallocate()
    }

    /// Notes that the thread ends, and enters no module any more.
    ///
    /// By the thread itself; the system may give its identity to another one.
    func end() { identity.store(0, ordering: .relaxed) }

    /// Has the object stand for another thread, when the one before has ended and before that one runs.
    func begin(mine: Ownership) {
        self.mine = mine
        place = nil
    }

    /// Remembers the responder that is about to call another one.
    @usableFromInline
    func remember(_ word: Ownership) {
        outer[word.depth].store(word.slot, ordering: .relaxed)
    }

    /// The responders on the stack when the word was `word`, outermost first.
    func stack(at word: Ownership) -> [UInt16] {
        guard word.depth > 0 else { return [] }
        return (1..<word.depth).map { outer[$0].load(ordering: .relaxed) } + [word.slot]
    }

    /// The responder that the lane itself told something, when the word was `word`.
    func outermost(at word: Ownership) -> UInt16 {
        word.depth > 1 ? outer[1].load(ordering: .relaxed) : word.slot
    }
}
