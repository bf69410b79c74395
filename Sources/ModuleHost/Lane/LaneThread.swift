import Dispatch
import Synchronization

/// One thread of the lane, from the moment it takes the lane to the moment it ends.
///
/// A lane has one owner at a time. A thread that lost the lane to another lives on until the module that kept
/// it returns, and has caught up. Then this object is reused for the next thread that takes the lane: it is
/// not freed as long as the lane exists, since other threads read the owner without counting a reference.
///
/// `@unchecked Sendable`: `place` is accessed only by the thread itself, and by what starts it before it runs. Everything
/// else is immutable or atomic. A second thread that accessed `place` would be detected by `LaneTakeoverTests` under
/// the thread sanitizer.
@usableFromInline
final class LaneThread: @unchecked Sendable {
    /// The word, which the thread moves while it owns the lane.
    @usableFromInline let word: OwnershipWord

    /// The word as it is.
    @inlinable @inline(__always)
    var ownership: Ownership { word.load() }

    /// The slot whose code the thread runs since it lost the lane; nil while it has not changed since.
    ///
    /// Accessed only by the thread itself.
    @usableFromInline var place: UInt16?

    /// The semaphore that wakes the thread when it waits for work.
    let wake = DispatchSemaphore(value: 0)

    /// The identity of the thread; 0 until it runs.
    let identity = Atomic<UInt>(0)

    /// Whether this is the calling thread.
    var isCurrent: Bool { identity.load(ordering: .relaxed) == NativeThread.current }

    /// The responders below the innermost, by their depth.
    ///
    /// Atomic only because a thread that has lost the lane and has not detected it may write an equal value
    /// once more.
    private let outer: UnsafeMutablePointer<Atomic<UInt16>>
    /// The stack of the responders in the black box, if there is one.
    let stack: BlackBox.Stack?

    init(at first: Ownership, stack: BlackBox.Stack? = nil) {
        self.stack = stack
        word = OwnershipWord(first, in: stack)
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
        guard stack == nil else { return }
        outer.deinitialize(count: CallDepth.maximum + 1)
        outer.deallocate()
    }

    /// Notes that the thread ends, and enters no further module.
    ///
    /// Called by the thread itself; the system may give its identity to another one.
    func end() { identity.store(0, ordering: .relaxed) }

    /// Assigns the object to another thread, when the one before has ended and before that one runs.
    func begin(at first: Ownership) {
        word.begin(first)
        place = nil
    }

    /// Records the responder that is about to call another one; the host's own code in the middle of a call is none.
    @usableFromInline
    func remember(_ word: Ownership) {
        guard word.slot != 0 else { return }
        outer[word.depth].store(word.slot, ordering: .relaxed)
    }

    /// Returns the responders on the stack when the word was `word`, outermost first.
    func stack(at word: Ownership) -> [UInt16] {
        guard word.depth > 0 else { return [] }
        return (1..<word.depth).map { outer[$0].load(ordering: .relaxed) } + [word.slot]
    }

    /// Returns the responder that the lane itself had entered, when the word was `word`.
    func outermost(at word: Ownership) -> UInt16 {
        word.depth > 1 ? outer[1].load(ordering: .relaxed) : word.slot
    }
}
