import AppService
public import Synchronization

/// The ownership word of one thread of the lane, with a flag for a thread that takes the lane from it, at an address
/// that may lie in a mapped file.
///
/// The owner moves its word with each delivery, and another thread takes the lane perhaps once a day. So the owner
/// pays with a plain store and a load, and no exchange:
///
/// ```
/// owner, in each move                    taking thread, under the lock
///     word = next                            flag = taking
///     flag == 0 ? go on                      have all threads pass a barrier
///               : ask under the lock         word == observed ? the lane is taken : flag = 0
/// ```
///
/// The taking thread sees a store of the owner that comes before the barrier. A store after the barrier is followed by
/// a load after the barrier, and the owner sees the flag. If each sees the other, the lock decides:
///
/// - The flag is cleared again: the owner keeps the lane.
/// - The taking thread had observed `next`, between the owner's store and its load: the lane is taken *in* that
///   delivery, and the owner still makes it.
///
/// The model `OwnershipProtocol` in the tests tries all orders.
///
/// `@unchecked Sendable`: the address is set once; what it refers to is atomic, lives as long as this object, and is
/// accessed in no other way. `OwnershipWordTests` and `LaneTests` under the thread sanitizer would break it.
@usableFromInline
final class OwnershipWord: @unchecked Sendable {
    /// The address of the word; the flag is the word after it.
    @usableFromInline typealias Address = UnsafeMutablePointer<Atomic<UInt64>>

    /// The parts of the flag; 0 where the owner goes on without asking.
    private enum Flag {
        static let taking: UInt64 = 1
        /// Without a barrier of the process the owner passes one of its own with each move.
        static let passBarrier: UInt64 = 2
    }

    @usableFromInline let address: Address
    private var flag: Address { address + 1 }
    private let flagAtRest: UInt64
    /// The stack in the black box that contains the word; nil where it lies in memory.
    private let stack: BlackBox.Stack?
    /// The word at which the lane was taken from the thread.
    private let taken = Guarded<Ownership?>(nil)

    /// - Parameters:
    ///   - first: The first value.
    ///   - stack: The place of the word, where it is to outlive the process; nil for memory.
    ///   - hasProcessBarrier: Whether ``ProcessBarrier`` can be used.
    init(
        _ first: Ownership = Ownership(bits: 0), in stack: BlackBox.Stack? = nil,
        hasProcessBarrier: Bool = ProcessBarrier.isAvailable
    ) {
        self.stack = stack
        flagAtRest = hasProcessBarrier ? 0 : Flag.passBarrier
        if let stack {
            address = stack.ownership
        } else {
            address = .allocate(capacity: 2)
            address.initialize(to: Atomic(0))
            flag.initialize(to: Atomic(0))
        }
        begin(first)
    }

    deinit {
        guard stack == nil else { return }
        address.deinitialize(count: 2)
        address.deallocate()
    }

    /// The word, as any thread may read it.
    @inlinable @inline(__always)
    func load() -> Ownership {
        Ownership(bits: address.pointee.load(ordering: .acquiring))
    }

    /// Sets the word before its thread is the owner, or goes on as the owner.
    ///
    /// Under the lane's lock, while the thread does not run code of the lane, and no other one takes it.
    func begin(_ word: Ownership) {
        address.pointee.store(word.bits, ordering: .releasing)
        flag.pointee.store(flagAtRest, ordering: .relaxed)
        taken.withLock { $0 = nil }
    }

    // MARK: The owner

    /// The word, as its own thread reads it.
    @inlinable @inline(__always)
    static func own(at address: Address) -> Ownership {
        Ownership(bits: address.pointee.load(ordering: .relaxed))
    }

    /// Moves the word, on its own thread.
    ///
    /// Release, so that a thread that takes the lane over sees all that its owner did. The flag is loaded
    /// sequentially consistently: LLVM keeps it after the store then (`OwnershipWordTests` would show otherwise), and so
    /// does an ARM processor; an x86 does not, but takes no longer for it than for any load.
    ///
    /// - Returns: Whether the thread certainly owns the lane; else ``isKept(at:after:)`` tells.
    @inlinable @inline(__always)
    static func move(to next: Ownership, at address: Address) -> Bool {
        address.pointee.store(next.bits, ordering: .releasing)
        return (address + 1).pointee.load(ordering: .sequentiallyConsistent) == 0
    }

    /// Moves the word, on its own thread.
    ///
    /// - Returns: False where the lane was taken over: the word stays what it was then.
    @inlinable @inline(__always)
    func move(to next: Ownership) -> Bool {
        let current = Self.own(at: address)
        return Self.move(to: next, at: address) || isKept(at: next, after: current)
    }

    /// Decides whether the owner still was the owner when it moved its word, and has found the flag set.
    ///
    /// - Parameters:
    ///   - next: The word.
    ///   - current: The word before that, which is restored where the lane was lost at it.
    /// - Returns: False where the lane was taken over before.
    @usableFromInline @inline(never)
    func isKept(at next: Ownership, after current: Ownership) -> Bool {
        if flagAtRest == Flag.passBarrier {
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if !isFlagged { return true }
        }
        return taken.withLock { taken in
            if taken == nil || taken == next { return true }
            address.pointee.store(current.bits, ordering: .releasing)
            return false
        }
    }

    /// Whether the lane was taken from the thread.
    var isTaken: Bool { isFlagged && taken.withLock { $0 != nil } }

    private var isFlagged: Bool {
        flag.pointee.load(ordering: .sequentiallyConsistent) & Flag.taking != 0
    }

    // MARK: Taking the lane

    /// Takes the lane from the thread, if its word still is `observed`.
    ///
    /// From any thread, after ``ProcessBarrier/prepare()``. Where it is not taken, it can be tried again.
    func take(at observed: Ownership) -> Bool {
        taken.withLock { taken in
            guard load() == observed, taken == nil else { return false }
            flag.pointee.store(flagAtRest | Flag.taking, ordering: .sequentiallyConsistent)
            if passesBarrier(), load() == observed {
                taken = observed
                return true
            }
            flag.pointee.store(flagAtRest, ordering: .releasing)
            return false
        }
    }

    /// Orders the store of the flag before the look at the word that follows.
    private func passesBarrier() -> Bool {
        if flagAtRest == 0 { return ProcessBarrier.pass() }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return true
    }
}
