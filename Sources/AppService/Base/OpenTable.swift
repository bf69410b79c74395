/// A hash table of numbers, each of which stands for an item that the owner of the table keeps.
///
/// Open addressing; the number of slots is a power of two, and at least half of them are free. The owner computes the
/// hashes and compares the items. A dictionary takes three times as long: its hash resists chosen collisions, is
/// computed again when it grows, and its keys are copied.
package struct OpenTable: Sendable {
    /// A slot holds 32 bits of the hash, then the number plus one; zero is a free slot.
    package private(set) var slots = [UInt64](repeating: 0, count: 16)
    private var count = 0

    package init() {}

    /// Makes room for `total` numbers at once, so that the table does not grow while they are added.
    package mutating func reserveCapacity(_ total: Int) {
        var size = slots.count
        while size < total * 2 { size *= 2 }
        guard size > slots.count else { return }
        let old = slots
        slots = [UInt64](repeating: 0, count: size)
        for entry in old where entry != 0 {
            slots[slot(UInt32(truncatingIfNeeded: entry >> 32)) { _ in false }] = entry
        }
    }

    /// Returns the number of the item with this hash that matches.
    package func find(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int? {
        number(at: slot(hash, where: isMatch))
    }

    /// Adds a number, unless there is an item with this hash that matches.
    ///
    /// - Returns: The number of that item; nil if the number was added.
    package mutating func insert(
        _ number: Int, _ hash: UInt32, unless isMatch: (Int) -> Bool
    ) -> Int? {
        if slots.count < (count + 1) * 2 { reserveCapacity(count + 1) }
        let slot = slot(hash, where: isMatch)
        if let found = self.number(at: slot) { return found }
        slots[slot] = UInt64(hash) << 32 | UInt64(number + 1)
        count += 1
        return nil
    }

    /// Gives the slot of a number to another one with the same hash.
    package mutating func replace(_ number: Int, by other: Int, _ hash: UInt32) {
        slots[slot(hash) { $0 == number }] = UInt64(hash) << 32 | UInt64(other + 1)
    }

    /// Removes a number, if it has this hash.
    package mutating func remove(_ number: Int, _ hash: UInt32) {
        var free = slot(hash) { $0 == number }
        guard slots[free] != 0 else { return }
        let mask = slots.count - 1
        // Those behind it move up, where they would not be found beyond a free slot.
        var next = (free + 1) & mask
        while slots[next] != 0 {
            let home = Int(truncatingIfNeeded: slots[next] >> 32) & mask
            if (next - home) & mask >= (next - free) & mask {
                slots[free] = slots[next]
                free = next
            }
            next = (next + 1) & mask
        }
        slots[free] = 0
        count -= 1
    }

    private func number(at slot: Int) -> Int? {
        slots[slot] == 0 ? nil : Int(slots[slot] & 0xffff_ffff) - 1
    }

    /// Returns the slot of the item with this hash that matches, or the free slot where it belongs.
    @inline(__always)
    private func slot(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int {
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == UInt64(hash), isMatch(Int(slots[slot] & 0xffff_ffff) - 1) {
                return slot
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }
}
