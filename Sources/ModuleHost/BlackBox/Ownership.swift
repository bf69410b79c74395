/// The module in which one thread of the lane is, in one machine word: the slot that is entered, the depth of nested
/// calls, and a sequence number that makes each delivery different from the one before.
///
/// ```
/// 63      55 54         23 22   16 15        0
/// │ moves   │ deliveries  │ depth │ slot      │
/// ```
///
/// `deliveries` counts those made by the lane itself (depth 1): while it stands still, the same top-level
/// delivery continues, however many nested calls are made in it. The watchdog checks this field. `moves`
/// counts nested moves, so that each differs from its neighbors; at the top, so that it wraps around without a mask.
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
    var delivery: UInt32 { UInt32(truncatingIfNeeded: bits >> 23) }

    @usableFromInline static var slotMask: UInt64 { 0xFFFF }
    @usableFromInline static var depthUnit: UInt64 { 1 << 16 }
    @usableFromInline static var deliveryUnit: UInt64 { 1 << 23 }
    @usableFromInline static var moveUnit: UInt64 { 1 << 55 }

    /// The number that each move to another responder at this depth adds.
    @inlinable @inline(__always)
    var step: UInt64 { depth == 1 ? Self.deliveryUnit : Self.moveUnit }

    /// Returns the word for the next responder at the same depth, with the ``step`` of that depth.
    @inlinable @inline(__always)
    func moved(to slot: UInt16, by step: UInt64) -> Ownership {
        Ownership(bits: (bits &+ step) & ~Self.slotMask | UInt64(slot))
    }

    /// Returns the word for a responder that the current one calls, one level deeper.
    @inlinable @inline(__always)
    func entered(_ slot: UInt16) -> Ownership {
        let counted = bits &+ (depth == 0 ? Self.deliveryUnit : Self.moveUnit)
        return Ownership(bits: (counted & ~Self.slotMask | UInt64(slot)) &+ Self.depthUnit)
    }

    /// Returns the word after that call: back to `slot`, one level up.
    @inlinable @inline(__always)
    func left(to slot: UInt16) -> Ownership {
        Ownership(bits: ((bits &+ Self.moveUnit) & ~Self.slotMask | UInt64(slot)) &- Self.depthUnit)
    }

    /// The word while the host's own code runs in the middle of a responder's call: the lane is not taken
    /// over then, and its state may be accessed.
    @inlinable @inline(__always)
    var inHost: Ownership { Ownership(bits: (bits &+ Self.moveUnit) & ~Self.slotMask) }

    /// Returns the word when the host's code is done and the responder goes on.
    @inlinable @inline(__always)
    func resumed(by slot: UInt16) -> Ownership {
        Ownership(bits: (bits &+ Self.moveUnit) & ~Self.slotMask | UInt64(slot))
    }

    /// The word of the thread that continues where another one was stuck.
    var takenOver: Ownership {
        Ownership(bits: (bits &+ Self.deliveryUnit) & UInt64(UInt32.max) << 23)
    }
}
