import AppService

/// The record of a host: a ring in a mapped file of the state directory, which outlives whatever ends the host.
///
/// The next host continues it. An entry is a copy of at most 512 bytes into mapped memory under a lock, without a system
/// call but for the clock; nothing is written while nothing happens. Each entry has a check, so a reader takes no entry
/// that is cut off, and needs no lock.
package final class RecordRing: Sendable {
    package static let name = "record"
    package static let defaultSize = 4 << 20
    /// The possible sizes of the file.
    package static var sizes: ClosedRange<Int> { RecordLayout.sizes }

    /// The deliveries and calls that are kept.
    package enum Scope: String, CaseIterable, Sendable {
        /// Those that took long, that failed, and those of a trace that its sender records.
        case slow
        case all
    }

    let scope: Scope
    private let layout: RecordLayout
    private let file: MappedFile
    private let next: Guarded<(rare: UInt64, frequent: UInt64)>

    /// Continues the record in a state directory, or begins one where there is none of this size and version.
    ///
    /// - Parameters:
    ///   - directory: The state directory, which this process has claimed.
    ///   - size: The size of the file in bytes.
    ///   - scope: What is kept of deliveries and calls.
    /// - Throws: ``FileError`` where there is no room for it, or it cannot be mapped.
    package convenience init(
        in directory: StateDirectory, size: Int = defaultSize, scope: Scope = .slow
    ) throws(FileError) {
        let layout = RecordLayout(
            size: min(max(size, Self.sizes.lowerBound), Self.sizes.upperBound))
        let path = directory.path(of: Self.name)
        let isThere = RecordContents(in: directory)?.layout == layout
        if isThere, let file = try? MappedFile(opening: path, size: layout.size) {
            self.init(layout, file, scope)
        } else {
            let file = try MappedFile(creating: path + ".new", size: layout.size)
            self.init(layout, file, scope)
            do {
                try file.take(placeOf: path)
            } catch {
                MappedFile.remove(file.path)
                throw error
            }
        }
    }

    /// Creates a record in memory alone, which ends with this process.
    ///
    /// - Throws: ``FileError`` where there is no memory for it.
    package convenience init(inMemory size: Int, scope: Scope = .slow) throws(FileError) {
        let layout = RecordLayout(size: size)
        self.init(layout, try MappedFile(inMemory: layout.size), scope)
    }

    private init(_ layout: RecordLayout, _ file: MappedFile, _ scope: Scope) {
        self.scope = scope
        self.layout = layout
        self.file = file
        func word(_ word: RecordLayout.Word) -> UInt64 {
            file.base.load(fromByteOffset: word.rawValue * 8, as: UInt64.self)
        }
        next = Guarded((max(1, word(.nextRare)), max(1, word(.nextFrequent))))
        store(layout.form, at: RecordLayout.Word.form.rawValue * 8)
        store(RecordLayout.magic, at: RecordLayout.Word.magic.rawValue * 8)
    }

    /// Returns whether a delivery or a call is kept.
    func keeps(_ time: Duration, failed hasFailed: Bool, _ trace: TraceContext?) -> Bool {
        time >= Self.slow || hasFailed || scope == .all || trace?.isSampled == true
    }

    /// The time from which on a delivery or a call has taken long.
    static let slow: Duration = .milliseconds(1)

    /// Adds what has just happened.
    package func add(_ fact: HostRecord.Fact, of module: ModuleID? = nil) {
        add(HostRecord(time: .now(), module: module, fact))
    }

    package func add(_ record: HostRecord) {
        let fields = record.fact.fields
        let isFrequent = record.fact.isFrequent
        next.withLock { next in
            let number = isFrequent ? next.frequent : next.rare
            let slot = layout.slot(number, isFrequent: isFrequent)
            store(next.rare &+ next.frequent, at: slot + RecordLayout.Offset.order)
            write(record, fields, number, at: slot)
            if isFrequent { next.frequent &+= 1 } else { next.rare &+= 1 }
            let word: RecordLayout.Word = isFrequent ? .nextFrequent : .nextRare
            store(number &+ 1, at: word.rawValue * 8)
        }
    }

    private func write(
        _ record: HostRecord, _ fields: RecordFields, _ number: UInt64, at slot: Int
    ) {
        typealias Offset = RecordLayout.Offset
        store(number, at: slot + Offset.number)
        store(Int64(record.time.seconds), at: slot + Offset.seconds)
        store(UInt32(record.time.nanoseconds), at: slot + Offset.nanoseconds)
        store(UInt32(fields.code), at: slot + Offset.code)
        store(fields.trace, at: slot + Offset.trace)
        store(fields.numbers, at: slot + Offset.numbers)
        var end = RecordLayout.textStart
        put(record.module?.text ?? "", 0, at: slot, &end, isWhole: true)
        put(fields.name, 1, at: slot, &end, isWhole: true)
        put(fields.topic, 2, at: slot, &end, isWhole: false)
        put(fields.sender, 3, at: slot, &end, isWhole: true)
        put(fields.text, 4, at: slot, &end, isWhole: false)
        // The rest of the last word counts for the check.
        while end & 7 != 0, end < RecordLayout.slotSize {
            file.base.storeBytes(of: 0, toByteOffset: slot + end, as: UInt8.self)
            end += 1
        }
        let bytes = UnsafeRawBufferPointer(start: file.base + slot, count: RecordLayout.slotSize)
        store(bytes.recordCheck(of: end), at: slot + Offset.check)
    }

    /// Stores a text behind the ones before it, and its length as one of five.
    private func put(
        _ text: String, _ place: Int, at slot: Int, _ end: inout Int, isWhole: Bool
    ) {
        var text = text
        let room = RecordLayout.slotSize - end
        let count = text.withUTF8 { bytes in
            let count = bytes.count <= room ? bytes.count : isWhole ? 0 : room
            if count > 0, let source = bytes.baseAddress {
                (file.base + slot + end).copyMemory(from: source, byteCount: count)
            }
            return count
        }
        store(UInt16(count), at: slot + RecordLayout.Offset.lengths + 2 * place)
        end += count
    }

    private func store(_ value: some BitwiseCopyable, at offset: Int) {
        withUnsafeBytes(of: value) { bytes in
            guard let source = bytes.baseAddress else { return }
            (file.base + offset).copyMemory(from: source, byteCount: bytes.count)
        }
    }
}

extension RecordRing: BoxSource {
    var size: Int { layout.size }

    /// Returns some bytes, between two entries.
    func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset <= size - count else { return nil }
        return next.withLock { _ in
            Array(UnsafeRawBufferPointer(start: file.base + offset, count: count))
        }
    }
}

extension RecordRing {
    /// The entries.
    package var contents: RecordContents? { RecordContents(self) }
}
