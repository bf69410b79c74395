public import Synchronization

/// The lane's owner in one machine word: the slot that is entered, the depth of nested calls, and a sequence
/// number that makes each delivery different from the one before.
///
/// ```
/// 63            32 31      23 22   16 15        0
/// │ deliveries    │ moves    │ depth │ slot      │
/// ```
///
/// `deliveries` counts those made by the lane itself (depth 1): while it stands still, the same top-level
/// delivery continues, however much nested calls move below it. The watchdog checks this field. `moves`
/// counts nested moves, so that each differs from its neighbors.
@usableFromInline
struct Ownership: Equatable, Sendable {
    @usableFromInline var bits: UInt64

    @inlinable @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    /// The current responder; 0 is the host itself, at any depth.
    @inlinable @inline(__always)
    var slot: UInt16 { UInt16(truncatingIfNeeded: bits) }

    /// The number of responders on the stack: 0 in the host's own code, 1 in a delivery, more if responders
    /// call each other.
    @inlinable @inline(__always)
    var depth: Int { Int(truncatingIfNeeded: (bits >> 16) & 0x7F) }

    /// The number of the lane's own delivery, modulo 2³².
    @inlinable @inline(__always)
    var delivery: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

    @usableFromInline static var slotMask: UInt64 { 0xFFFF }
    @usableFromInline static var depthUnit: UInt64 { 1 << 16 }
    @usableFromInline static var moveUnit: UInt64 { 1 << 23 }
    @usableFromInline static var moveMask: UInt64 { 0x1FF << 23 }
    @usableFromInline static var deliveryUnit: UInt64 { 1 << 32 }

    /// Returns the word for the next responder at the same depth.
    @inlinable @inline(__always)
    func moved(to slot: UInt16) -> Ownership {
        let counted = depth == 1 ? bits &+ Self.deliveryUnit : countingMove
        return Ownership(bits: counted & ~Self.slotMask | UInt64(slot))
    }

    /// Returns the word for a responder that the current one calls, one level deeper.
    @inlinable @inline(__always)
    func entered(_ slot: UInt16) -> Ownership {
        let counted = depth == 0 ? bits &+ Self.deliveryUnit : countingMove
        return Ownership(bits: (counted & ~Self.slotMask | UInt64(slot)) &+ Self.depthUnit)
    }

    /// Returns the word after that call: back to `slot`, one level up.
    @inlinable @inline(__always)
    func left(to slot: UInt16) -> Ownership {
        Ownership(bits: (countingMove & ~Self.slotMask | UInt64(slot)) &- Self.depthUnit)
    }

    /// The word while the host's own code runs in the middle of a responder's call: the lane is not taken
    /// over then, and its state may be accessed.
    @inlinable @inline(__always)
    var inHost: Ownership { Ownership(bits: countingMove & ~Self.slotMask) }

    /// Returns the word when the host's code is done and the responder goes on.
    @inlinable @inline(__always)
    func resumed(by slot: UInt16) -> Ownership {
        Ownership(bits: countingMove & ~Self.slotMask | UInt64(slot))
    }

    /// The word of the thread that continues where another one was stuck.
    var takenOver: Ownership {
        Ownership(bits: (bits &+ Self.deliveryUnit) & ~0xFFFF_FFFF)
    }

    /// One more move, which wraps within its own field and carries into no other.
    @inlinable @inline(__always)
    var countingMove: UInt64 {
        bits & ~Self.moveMask | (bits &+ Self.moveUnit) & Self.moveMask
    }
}

/// The ownership word with its owner's copy; valid until that thread leaves the lane's code.
@usableFromInline
struct WordInHand {
    @usableFromInline let word: OwnershipWord.Address
    @usableFromInline let mine: UnsafeMutablePointer<Ownership>

    @inlinable
    init(word: OwnershipWord.Address, mine: UnsafeMutablePointer<Ownership>) {
        self.word = word
        self.mine = mine
    }

    /// Exchanges the word.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    func exchange(for next: Ownership) -> Bool {
        guard OwnershipWord.exchange(mine.pointee, for: next, at: word) else { return false }
        mine.pointee = next
        return true
    }
}

/// The word itself, at an address that may lie in a mapped file.
///
/// `@unchecked Sendable`: the pointer is set once; it refers to an atomic that lives as long as this object,
/// in memory or in the black box, and is accessed in no other way. `LaneTests` under the thread sanitizer
/// would break it.
@usableFromInline
final class OwnershipWord: @unchecked Sendable {
    @usableFromInline typealias Address = UnsafeMutablePointer<Atomic<UInt64>>

    @usableFromInline let address: Address
    /// The box that contains the word; nil where it lies in memory.
    private let box: BlackBox?

    /// - Parameter box: The box, where the word is to outlive the process; nil for memory.
    init(in box: BlackBox? = nil) {
        self.box = box
        if let box {
            address = box.ownership
        } else {
            address = .allocate(capacity: 1)
            address.initialize(to: Atomic(0))
        }
    }

    deinit {
        guard box == nil else { return }
        address.deinitialize(count: 1)
        address.deallocate()
    }

    @inlinable @inline(__always)
    func load() -> Ownership {
        Ownership(bits: address.pointee.load(ordering: .acquiring))
    }

    /// Exchanges the word where it still is `current`.
    ///
    /// Release, so that a thread that takes the lane over sees all that its owner did; acquire, so that the
    /// owner sees all that the thread before it did.
    @inlinable @inline(__always)
    func exchange(_ current: Ownership, for next: Ownership) -> Bool {
        Self.exchange(current, for: next, at: address)
    }

    /// Exchanges the word at an address where it still is `current`.
    @inlinable @inline(__always)
    static func exchange(_ current: Ownership, for next: Ownership, at address: Address) -> Bool {
        address.pointee.compareExchange(
            expected: current.bits, desired: next.bits, ordering: .acquiringAndReleasing
        ).exchanged
    }
}
