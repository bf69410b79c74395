/// The entries of a record, read from its file or from the host that writes it; accepts any bytes.
package struct RecordContents {
    let layout: RecordLayout
    private let source: any BoxSource
    /// The numbers of the next entries.
    private let next: (rare: UInt64, frequent: UInt64)

    /// Reads the record in a state directory.
    ///
    /// - Returns: Nil where there is none, and for a file that is not a record of this version.
    package init?(in directory: StateDirectory) {
        guard let file = RegularFile(reading: directory.path(of: RecordRing.name)) else {
            return nil
        }
        self.init(file)
    }

    init?(_ source: any BoxSource) {
        guard let head = source.bytes(32, at: 0) else { return nil }
        func word(_ word: RecordLayout.Word) -> UInt64 {
            head.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: word.rawValue * 8, as: UInt64.self)
            }
        }
        layout = RecordLayout(size: source.size)
        guard source.size <= RecordLayout.sizes.upperBound, layout.size == source.size,
            layout.slots >= RecordLayout(size: RecordLayout.sizes.lowerBound).slots,
            word(.magic) == RecordLayout.magic, word(.form) == layout.form
        else { return nil }
        self.source = source
        next = (word(.nextRare), word(.nextFrequent))
    }

    /// Returns the newest entries, in the order in which they were added.
    ///
    /// - Parameters:
    ///   - count: The maximum number of entries.
    ///   - isMeant: Whether an entry counts.
    /// - Returns: The entries.
    package func last(
        _ count: Int, where isMeant: (HostRecord) -> Bool = { _ in true }
    ) -> [HostRecord] {
        let all =
            last(count, isFrequent: false, where: isMeant)
            + last(count, isFrequent: true, where: isMeant)
        // Not by their times: the clock may have been set back.
        return all.sorted { $0.order < $1.order }.suffix(count).map(\.record)
    }

    /// The oldest entry about a host or a module.
    var oldest: HostRecord? {
        let numbers = firstNumber(before: next.rare)..<max(1, next.rare)
        for number in numbers {
            let slot = layout.slot(number, isFrequent: false)
            guard let bytes = source.bytes(RecordLayout.slotSize, at: slot) else { return nil }
            if let entry = bytes.withUnsafeBytes({ HostRecord($0, number: number) }) {
                return entry
            }
        }
        return nil
    }

    /// Returns the number of the oldest entry of a part.
    private func firstNumber(before end: UInt64) -> UInt64 {
        end > UInt64(layout.slots) ? end - UInt64(layout.slots) : 1
    }

    /// Returns the newest entries of a part, the oldest of them first.
    private func last(
        _ count: Int, isFrequent: Bool, where isMeant: (HostRecord) -> Bool
    ) -> [(record: HostRecord, order: UInt64)] {
        var found: [(record: HostRecord, order: UInt64)] = []
        let end = isFrequent ? next.frequent : next.rare
        let first = firstNumber(before: end)
        guard end > first else { return [] }
        // In pieces, since each is a system call.
        var piece = (start: Int.max, bytes: [UInt8]())
        for number in (first..<end).reversed() where found.count < count {
            let slot = layout.slot(number, isFrequent: isFrequent)
            if slot < piece.start || slot + RecordLayout.slotSize > piece.start + piece.bytes.count
            {
                let start = max(0, slot + RecordLayout.slotSize - 64 << 10)
                let size = slot + RecordLayout.slotSize - start
                guard let bytes = source.bytes(size, at: start) else { break }
                piece = (start, bytes)
            }
            let entry = piece.bytes.withUnsafeBytes { bytes in
                let place = slot - piece.start
                let slot = UnsafeRawBufferPointer(
                    rebasing: bytes[place..<place + RecordLayout.slotSize])
                return HostRecord(slot, number: number).map { ($0, slot.recordOrder) }
            }
            if let entry, isMeant(entry.0) { found.append(entry) }
        }
        return found.reversed()
    }
}

extension HostRecord {
    /// Reads a slot; nil where it has not this entry, or not the whole of it.
    fileprivate init?(_ slot: UnsafeRawBufferPointer, number: UInt64) {
        func load<Value: BitwiseCopyable>(_ offset: Int, _ type: Value.Type) -> Value {
            slot.loadUnaligned(fromByteOffset: offset, as: type)
        }
        typealias Offset = RecordLayout.Offset
        let lengths = (0..<5).map { Int(load(Offset.lengths + 2 * $0, UInt16.self)) }
        let end = RecordLayout.textStart + lengths.reduce(0, +)
        let nanoseconds = load(Offset.nanoseconds, UInt32.self)
        guard load(Offset.number, UInt64.self) == number, end <= slot.count,
            load(Offset.check, UInt64.self) == slot.recordCheck(of: end),
            nanoseconds < 1_000_000_000,
            let code = UInt8(exactly: load(Offset.code, UInt32.self))
        else { return nil }
        var start = RecordLayout.textStart
        let texts = lengths.map { length in
            defer { start += length }
            return String(decoding: slot[start..<start + length], as: UTF8.self)
        }
        let fields = RecordFields(
            code: code, numbers: load(Offset.numbers, SIMD4<Int64>.self), name: texts[1],
            text: texts[4], topic: texts[2], sender: texts[3],
            trace: load(Offset.trace, SIMD4<UInt64>.self))
        guard let fact = Fact(fields), texts[0].isEmpty || (try? ModuleID(texts[0])) != nil else {
            return nil
        }
        time = WallTime(
            seconds: Int(load(Offset.seconds, Int64.self)), nanoseconds: Int(nanoseconds))
        module = try? ModuleID(texts[0])
        self.fact = fact
    }
}
