/// A table of objects by type, with at most one for each.
typealias TypeTable = ObjectTable

extension ObjectTable {
    /// Returns the object of a type.
    func find(_ type: ObjectIdentifier) -> Value? { findUncounted(type)?.takeUnretainedValue() }

    /// Returns the object of a type, valid until it is removed.
    @inline(__always)
    func findUncounted(_ type: ObjectIdentifier) -> Unmanaged<Value>? {
        find(Self.hash(type)) { _ in true }
    }

    /// Sets the object of a type; nil removes it.
    @discardableResult
    func set(_ value: Value?, for type: ObjectIdentifier) -> Value? {
        let old = remove(Self.hash(type)) { _ in true }
        if let value { insert(value, Self.hash(type)) }
        return old
    }

    /// Returns a hash that no other type has: the multiplication by an odd number is reversible.
    @inline(__always)
    static func hash(_ type: ObjectIdentifier) -> UInt64 {
        UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15
    }
}
