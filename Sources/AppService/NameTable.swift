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

    /// Returns the number of `name`; `tasks` are in the order of their numbers.
    func number(of name: String, among tasks: [StartupTask]) -> Int32? {
        let hash = Self.hash(name)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash {
                let number = Int(slots[slot] & 0xffff_ffff) - 1
                if tasks[number].name == name { return Int32(number) }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Assigns the next number to `name`, which has none yet.
    mutating func append(_ name: String) {
        count += 1
        if count * 2 > slots.count {
            let old = slots
            slots = [UInt64](repeating: 0, count: old.count * 2)
            for entry in old where entry != 0 { insert(entry) }
        }
        insert(Self.hash(name) << 32 | UInt64(count))
    }

    private mutating func insert(_ entry: UInt64) {
        var slot = Int(truncatingIfNeeded: entry >> 32) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = entry
    }

    /// Returns 32 bits that names which are equal by `==` have in common.
    private static func hash(_ name: String) -> UInt64 {
        var name = name
        let (hash, isASCII) = name.withUTF8 { bytes in
            var hash: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
            var all: UInt8 = 0
            for byte in bytes {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
                all |= byte
            }
            return (hash, all < 0x80)
        }
        let mixed = isASCII ? hash : UInt64(bitPattern: Int64(name.hashValue))
        return (mixed ^ mixed >> 32) & 0xffff_ffff
    }
}
