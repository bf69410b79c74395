/// A hash table that maps the name of a task to its number.
///
/// The search of a name was most of the cost of a task that does nothing: names of tasks come from the program itself, so
/// that their hash need not resist chosen collisions.
struct NameTable {
    private var table = OpenTable()

    /// Makes room for `total` names at once, so that the table does not grow while they are added.
    mutating func reserve(_ total: Int) { table.reserveCapacity(total) }

    /// Returns the number of `name`; `tasks` are in the order of their numbers.
    func number(of name: String, among tasks: [StartupTask]) -> Int32? {
        table.find(Self.hash(name)) { tasks[$0].name == name }.map(Int32.init)
    }

    /// Assigns a number to `name`.
    ///
    /// - Returns: Whether the name was free; if not, it keeps the number that it has.
    @discardableResult
    mutating func add(_ name: String, as number: Int, among tasks: [StartupTask]) -> Bool {
        table.insert(number, Self.hash(name)) { tasks[$0].name == name } == nil
    }

    /// Gives the name of a task to another one.
    mutating func replace(_ number: Int32, by other: Int, _ name: String) {
        table.replace(Int(number), by: other, Self.hash(name))
    }

    /// Removes a name, if it has this number.
    mutating func remove(_ name: String, of number: Int, among tasks: [StartupTask]) {
        table.remove(number, Self.hash(name))
    }

    /// Returns 32 bits that names which are equal by `==` have in common.
    private static func hash(_ name: String) -> UInt32 {
        let found = name.utf8.withContiguousStorageIfAvailable {
            Self.hash(of: UnsafeRawBufferPointer($0))
        }
        // Not on this platform, where every string is stored as UTF-8.
        guard let (hash, isASCII) = found else {
            return Self.hash(String(decoding: name.utf8, as: UTF8.self))
        }
        let mixed = isASCII ? hash : UInt64(bitPattern: Int64(name.hashValue))
        return UInt32(truncatingIfNeeded: mixed ^ mixed >> 32)
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
