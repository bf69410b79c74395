/// The layout of a record's file: slots of one size, in the machine's byte order.
///
/// ```
/// head │ slots of what happens to the host and its modules │ slots of deliveries
/// ```
///
/// Each part is a ring: slot `n` of the part has the newest entry whose number is `n` modulo the slots of the part. So
/// deliveries, of which there are many, never take the place of a module's failure.
struct RecordLayout: Hashable {
    /// `"HostdRec"`, as a machine of little-endian order reads it.
    static let magic: UInt64 = 0x6365_5264_7473_6F48
    /// The version of the layout, which changes with anything here and with ``RecordFields``.
    static let version: UInt64 = 5

    /// The bytes of a slot, and of the head.
    static let slotSize = 512
    /// The bytes of a slot before its texts.
    static let textStart = 114
    static let sizes = 64 << 10...256 << 20

    /// The places in a slot.
    enum Offset {
        static let number = 0
        static let check = 8
        static let seconds = 16
        static let nanoseconds = 24
        static let code = 28
        static let order = 32
        static let trace = 40
        static let numbers = 72
        /// The lengths of the texts: module, name, topic, sender and text.
        static let lengths = 104
    }

    /// The words of the head.
    enum Word: Int {
        case magic
        case form
        /// The number of the next entry of each part, from 1.
        case nextRare
        case nextFrequent
    }

    /// The slots of a part.
    let slots: Int

    /// - Parameter size: The size of the file, of which whole slots are used.
    init(size: Int) { slots = max(1, (size / Self.slotSize - 1) / 2) }

    var size: Int { (2 * slots + 1) * Self.slotSize }
    var form: UInt64 { Self.version << 32 | UInt64(Self.slotSize) }

    /// Returns the offset of the slot of an entry.
    func slot(_ number: UInt64, isFrequent: Bool) -> Int {
        let index = Int(number % UInt64(slots))
        return (1 + (isFrequent ? slots : 0) + index) * Self.slotSize
    }
}

extension UnsafeRawBufferPointer {
    /// The number of entries of both parts that were added before the one in a slot.
    var recordOrder: UInt64 {
        loadUnaligned(fromByteOffset: RecordLayout.Offset.order, as: UInt64.self)
    }

    /// The check of a slot, over everything in use but the word that has it.
    func recordCheck(of used: Int) -> UInt64 {
        var check: UInt64 = 0xCBF2_9CE4_8422_2325
        for offset in stride(from: 0, to: Swift.min(count, used + 7) & ~7, by: 8)
        where offset != RecordLayout.Offset.check {
            let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            check = (check ^ word) &* 0x9E37_79B9_7F4A_7C15
            check ^= check >> 29
        }
        return check
    }
}
