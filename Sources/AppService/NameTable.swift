/// A hash table that maps the name of a task to its number.
///
/// A dictionary would take three times as long, which was most of the cost of a task that does nothing: its
/// hash resists chosen collisions, and is computed again when it grows. Names of tasks come from the program
/// itself.
struct NameTable {
    /// Open addressing; the number of slots is a power of two, and at least half of them are free.
    ///
    /// A slot holds 32 bits of the hash, then the number plus one; zero is a free slot.
    private var slots = [UInt64](repeating: 0, count: 16)
    private var count = 0

    /// Makes room for `total` names at once, so that the table does not grow while they are added.
    mutating func reserve(_ total: Int) {
        var size = slots.count
        while size < total * 2 { size *= 2 }
        guard size > slots.count else { return }
        let old = slots
        slots = [UInt64](repeating: 0, count: size)
        for entry in old where entry != 0 {
            slots[freeSlot(for: entry >> 32)] = entry
        }
    }

    /// Returns the number of `name`; `tasks` are in the order of their numbers.
    func number(of name: String, among tasks: [StartupTask]) -> Int32? {
        let entry = slots[slot(of: name, hash: Self.hash(name), among: tasks)]
        return entry == 0 ? nil : Int32(truncatingIfNeeded: entry & 0xffff_ffff) - 1
    }

    /// Assigns a number to `name`.
    ///
    /// - Returns: Whether the name was free; if not, it keeps the number that it has.
    @discardableResult
    mutating func add(_ name: String, as number: Int, among tasks: [StartupTask]) -> Bool {
        if slots.count < (count + 1) * 2 { reserve(count + 1) }
        let hash = Self.hash(name)
        let slot = slot(of: name, hash: hash, among: tasks)
        guard slots[slot] == 0 else { return false }
        slots[slot] = hash << 32 | UInt64(number + 1)
        count += 1
        return true
    }

    /// Removes a name, if it has this number.
    mutating func remove(_ name: String, of number: Int, among tasks: [StartupTask]) {
        var free = slot(of: name, hash: Self.hash(name), among: tasks)
        guard slots[free] & 0xffff_ffff == UInt64(number + 1) else { return }
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

    /// Returns the slot that holds `name`, or the free slot where it belongs.
    private func slot(of name: String, hash: UInt64, among tasks: [StartupTask]) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash {
                let number = Int(slots[slot] & 0xffff_ffff) - 1
                if tasks[number].name == name { return slot }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private func freeSlot(for hash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// Returns 32 bits that names which are equal by `==` have in common.
    private static func hash(_ name: String) -> UInt64 {
        let found = name.utf8.withContiguousStorageIfAvailable {
            Self.hash(of: UnsafeRawBufferPointer($0))
        }
        // Not on this platform, where every string is stored as UTF-8.
        guard let (hash, isASCII) = found else {
            return Self.hash(String(decoding: name.utf8, as: UTF8.self))
        }
        let mixed = isASCII ? hash : UInt64(bitPattern: Int64(name.hashValue))
        return (mixed ^ mixed >> 32) & 0xffff_ffff
    }

    private static func hash(of bytes: UnsafeRawBufferPointer) -> (UInt64, isASCII: Bool) {
        var hash = 0xff51_afd7_ed55_8ccd ^ UInt64(bytes.count)
        var all: UInt64 = 0
        func mix(_ word: UInt64) {
            // Both halves of the product, so that each bit of the word reaches the low bits.
            let product = (hash ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
            hash = product.high ^ product.low
            all |= word
        }
        if bytes.count < 8 {
            mix(bytes.reduce(0) { $0 << 8 | UInt64($1) })
        } else {
            // The last word overlaps the one before it, where the rest is shorter than a word.
            let last = bytes.count - 8
            for offset in stride(from: 0, to: last, by: 8) {
                mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            mix(bytes.loadUnaligned(fromByteOffset: last, as: UInt64.self))
        }
        return (hash, all & 0x8080_8080_8080_8080 == 0)
    }
}
