/// Objects by the type they are for: one hash table, looked into without counting a reference.
///
/// A dictionary would hash each key against collisions made on purpose; types are the app's own, and
/// their addresses spread well enough.
@usableFromInline
final class TypeTable<Value: AnyObject> {
    @usableFromInline typealias Slot = (key: UInt, value: Unmanaged<Value>?)

    /// At least half of them are free; their number is a power of two.
    @usableFromInline var slots: UnsafeMutablePointer<Slot>
    @usableFromInline var mask: Int
    private var kept: [ObjectIdentifier: Value] = [:]

    @usableFromInline
    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: (0, nil), count: 16)
    }

    deinit { slots.deallocate() }

    /// All objects, in no order.
    var values: [Value] { Array(kept.values) }

    /// The object of a type.
    func find(_ type: ObjectIdentifier) -> Value? { findUncounted(type)?.takeUnretainedValue() }

    /// The object of a type, until it is taken out.
    @inlinable @inline(__always)
    func findUncounted(_ type: ObjectIdentifier) -> Unmanaged<Value>? {
        let key = UInt(bitPattern: type)
        var index = Self.place(of: key) & mask
        while let value = slots[index].value {
            if slots[index].key == key { return value }
            index = (index + 1) & mask
        }
        return nil
    }

    @inlinable @inline(__always)
    static func place(of key: UInt) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    /// Sets the object of a type; nil takes it out.
    ///
    /// - Returns: The one before, for the caller to release.
    @discardableResult
    func set(_ value: Value?, for type: ObjectIdentifier) -> Value? {
        let old = kept.removeValue(forKey: type)
        if old != nil { free(UInt(bitPattern: type)) }
        guard let value else { return old }
        kept[type] = value
        if kept.count * 2 > mask { grow() } else { place(UInt(bitPattern: type), value) }
        return old
    }

    private func place(_ key: UInt, _ value: Value) {
        var index = Self.place(of: key) & mask
        while slots[index].value != nil { index = (index + 1) & mask }
        slots[index] = (key, Unmanaged.passUnretained(value))
    }

    private func free(_ key: UInt) {
        var gap = Self.place(of: key) & mask
        while slots[gap].key != key { gap = (gap + 1) & mask }
        // What stands behind it moves up where it may, so that a search still comes by.
        var index = gap
        while true {
            index = (index + 1) & mask
            guard slots[index].value != nil else { break }
            let home = Self.place(of: slots[index].key) & mask
            guard (index - home) & mask >= (index - gap) & mask else { continue }
            slots[gap] = slots[index]
            gap = index
        }
        slots[gap] = (0, nil)
    }

    private func grow() {
        slots.deallocate()
        let count = (mask + 1) * 2
        slots = .allocate(capacity: count)
        slots.initialize(repeating: (0, nil), count: count)
        mask = count - 1
        for (type, value) in kept { place(UInt(bitPattern: type), value) }
    }
}
