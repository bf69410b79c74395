/// A hash table of objects, whose search counts no reference and copies no key.
///
/// Open addressing; the hash is the caller's. A dictionary would compute one that resists chosen
/// collisions, which costs more than the rest of a call by name; the keys here are the app's own.
/// Belongs to one thread at a time.
final class ObjectTable<Value: AnyObject> {
    private typealias Slot = (hash: UInt64, value: Unmanaged<Value>?)

    /// The slots; at least half of them are free, and their number is a power of two.
    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: (0, nil), count: 16)
    }

    /// Creates a table with the objects of another one.
    init(copying other: ObjectTable) {
        (mask, count) = (other.mask, other.count)
        slots = .allocate(capacity: mask + 1)
        slots.initialize(from: other.slots, count: mask + 1)
        for index in 0...mask { _ = slots[index].value?.retain() }
    }

    deinit {
        for index in 0...mask { slots[index].value?.release() }
        slots.deallocate()
    }

    /// All objects, in no particular order.
    var values: [Value] { (0...mask).compactMap { slots[$0].value?.takeUnretainedValue() } }

    /// Returns an object that stays valid until it is removed.
    ///
    /// - Parameter isMatch: Returns whether an object with this hash has the key.
    /// - Returns: The object, or nil.
    @inline(__always)
    func find(_ hash: UInt64, where isMatch: (Unmanaged<Value>) -> Bool) -> Unmanaged<Value>? {
        var index = Self.home(of: hash) & mask
        while let value = slots[index].value {
            if slots[index].hash == hash, isMatch(value) { return value }
            index = (index + 1) & mask
        }
        return nil
    }

    @inline(__always)
    static func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) }

    /// Adds an object whose key the table does not have.
    func insert(_ value: Value, _ hash: UInt64) {
        count += 1
        if count * 2 > mask { grow() }
        place((hash, .passRetained(value)))
    }

    /// Removes an object, for the caller to release.
    @discardableResult
    func remove(_ hash: UInt64, where isMatch: (Unmanaged<Value>) -> Bool) -> Value? {
        var gap = Self.home(of: hash) & mask
        while let value = slots[gap].value, slots[gap].hash != hash || !isMatch(value) {
            gap = (gap + 1) & mask
        }
        guard let removed = slots[gap].value else { return nil }
        count -= 1
        // The objects behind the gap move up where possible, so that a search does not end at it.
        var index = gap
        while true {
            index = (index + 1) & mask
            guard slots[index].value != nil else { break }
            let home = Self.home(of: slots[index].hash) & mask
            guard (index - home) & mask >= (index - gap) & mask else { continue }
            slots[gap] = slots[index]
            gap = index
        }
        slots[gap] = (0, nil)
        return removed.takeRetainedValue()
    }

    func swapContents(with other: ObjectTable) {
        (slots, other.slots) = (other.slots, slots)
        (mask, other.mask) = (other.mask, mask)
        (count, other.count) = (other.count, count)
    }

    private func place(_ slot: Slot) {
        var index = Self.home(of: slot.hash) & mask
        while slots[index].value != nil { index = (index + 1) & mask }
        slots[index] = slot
    }

    private func grow() {
        let (old, oldMask) = (slots, mask)
        mask = mask * 2 + 1
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: (0, nil), count: mask + 1)
        for index in 0...oldMask where old[index].value != nil { place(old[index]) }
        old.deallocate()
    }
}
