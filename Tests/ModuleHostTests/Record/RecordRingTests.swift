import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The record's file", .timeLimit(.minutes(10)))
struct RecordRingTests {
    private let folder: TemporaryFolder
    private let directory: StateDirectory
    private static let smallest = RecordRing.sizes.lowerBound
    /// The slots of each half of the smallest file.
    private static let slots = RecordLayout(size: smallest).slots

    init() throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path)
    }

    private func ring() throws -> RecordRing {
        try RecordRing(in: directory, size: Self.smallest)
    }

    private func read(_ count: Int = 10) -> [HostRecord.Fact] {
        RecordContents(in: directory)?.last(count).map(\.fact) ?? []
    }

    /// One of each kind.
    private static func facts() throws -> [HostRecord.Fact] {
        var delivery = HostRecord.Delivery(kind: .message, duration: .milliseconds(807))
        (delivery.topic, delivery.id) = ("parcel.arrived", "a-1")
        delivery.position = EventPosition(rawValue: 7 << 32 | 100)
        (delivery.received, delivery.failed, delivery.unresponsive) = (2, 1, 70_000)
        delivery.sender = try ModuleID("x.c")
        delivery.trace = TraceContext(TraceContextTests.text)?.begun().begun().place
        var call = HostRecord.Call(
            target: "x.a act", caller: "control from pid 7 (uid 0)", duration: .seconds(2))
        let answered = call
        (call.failure, call.trace) = ("no answer in time", delivery.trace)
        return [
            .started(version: "0.1.0", processID: 7), .lastHostDied("it died"),
            .ready(after: .milliseconds(12), modules: 3), .signal("SIGHUP"),
            .reload(outcome: "applied", summary: "added x.a"), .stopping(reason: "SIGTERM"),
            .ended(reason: nil), .ended(reason: ""), .created, .launched,
            .failed(reason: "init: no disk", need: nil),
            .failed(reason: "needs x.b", need: try ModuleID("x.b")), .unresponsive(in: "push"),
            .responsive(missed: 0), .responsive(missed: 9), .done, .unloaded,
            .restarting(in: .seconds(3)), .processStarted(11), .processEnded("killed"),
            .called(answered), .called(call),
            .handled(
                HostRecord.Handling(
                    kind: .message, topic: "parcel.arrived", id: "a-1", position: delivery.position,
                    duration: .milliseconds(650), trace: delivery.trace)),
            .handled(HostRecord.Handling(kind: .push, duration: .milliseconds(10))),
            .sent(
                HostRecord.Sending(
                    kind: .message, topic: "parcel.arrived", id: "a-2",
                    position: try #require(delivery.position), trace: delivery.trace)),
            .requestsFailed(981, last: "post on topic ''", processID: 4711),
            .threw(in: .push, error: "no"), .task("x.a/index", outcome: "failed", .seconds(5)),
            .delivered(delivery), .delivered(.init(kind: .push, duration: .zero)),
        ]
    }

    @Test("each kind of entry is read as it was written, from the file and from the ring")
    func kinds() throws {
        let module = try ModuleID("x.a")
        let ring = try ring()
        var facts = try Self.facts()
        for (index, fact) in facts.enumerated() {
            ring.add(HostRecord(time: WallTime(seconds: index), module: module, fact))
        }
        if case .delivered(var delivery) = facts[facts.count - 2] {
            delivery.unresponsive = 65_535
            facts[facts.count - 2] = .delivered(delivery)
        }
        #expect(read(99) == facts)
        let entries = try #require(ring.contents).last(99)
        #expect(entries.map(\.fact) == facts)
        #expect(entries.map(\.time.seconds) == Array(facts.indices))
        #expect(entries.allSatisfy { $0.module == module })
        #expect(Set(facts.map { $0.fields.code }).count == 24)
        #expect(try folder.mode(of: RecordRing.name) == 0o600)
    }

    @Test("entries come in the order in which they were added, whatever the clock says")
    func clockSetBack() throws {
        let ring = try ring()
        let facts: [HostRecord.Fact] = [
            .created, .threw(in: .push, error: "1"), .launched, .threw(in: .push, error: "2"),
            .done,
        ]
        for (index, fact) in facts.enumerated() {
            ring.add(HostRecord(time: WallTime(seconds: 100 - index), fact))
        }
        #expect(read() == facts)
        #expect(read(2) == facts.suffix(2))
    }

    @Test("each entry as text and as JSON")
    func texts() throws {
        let module = try ModuleID("x.a")
        let entries = try Self.facts().map {
            HostRecord(time: WallTime(seconds: 1), module: module, $0)
        }
        for entry in entries {
            var json = JSONWriter()
            json.object { entry.writeMembers(to: &$0) }
            let value = try JSONValue(parsing: json.bytes)
            #expect(value["text"]?.string == entry.text && value["module"]?.string == "x.a")
        }
        #expect(
            entries.suffix(3).map(\.text) == [
                "start-up task x.a/index failed after 5s",
                "message parcel.arrived of x.c took 807ms, inbox 7:100, id a-1: 2 modules, 1 failed, 70000 unresponsive",
                "push took 0ns: 0 modules",
            ])
    }

    @Test(
        "the next host continues a record of any size", arguments: [0, 262_143, 4 << 20, 256 << 20])
    func sizes(size: Int) throws {
        try RecordRing(in: directory, size: size).add(.created)
        try RecordRing(in: directory, size: size).add(.launched)
        #expect(read() == [.created, .launched])
        #expect(try RecordRing(in: directory, size: size).contents?.last(9).count == 2)
    }

    @Test(
        "a file of any size is no trap",
        arguments: [0, 31, 32, 512, 64 << 10, 1 << 40, Int.max - 511, .max])
    func hostileSizes(size: Int) {
        #expect(RecordContents(Bytes(all: [], size: size)) == nil)
        #expect(
            RecordContents(Bytes(all: [UInt8](repeating: 0xFF, count: 4096), size: size)) == nil)
    }

    @Test("one that others may read is replaced")
    func mode() throws {
        try ring().add(.created)
        #expect(chmod(folder.path(RecordRing.name), 0o644) == 0)
        try ring().add(.launched)
        #expect(read() == [.launched])
        #expect(try folder.mode(of: RecordRing.name) == 0o600)
    }

    @Test("the next host continues the record, and replaces a record of a different size")
    func continued() throws {
        try ring().add(.created)
        try ring().add(.launched)
        #expect(read() == [.created, .launched])
        try RecordRing(in: directory, size: Self.smallest * 2).add(.done)
        #expect(read() == [.done])
    }

    @Test("a new entry takes the place of the oldest of its half")
    func full() throws {
        let ring = try ring()
        ring.add(.failed(reason: "first", need: nil))
        for number in 0..<3 * Self.slots { ring.add(.threw(in: .push, error: "\(number)")) }
        let all = read(1000)
        #expect(all.count == Self.slots + 1)
        #expect(all.first == .failed(reason: "first", need: nil))
        #expect(all.last == .threw(in: .push, error: "\(3 * Self.slots - 1)"))
        for _ in 0..<Self.slots { ring.add(.created) }
        #expect(!read(1000).contains(.failed(reason: "first", need: nil)))
    }

    @Test("a long text is cut, an id is not")
    func long() throws {
        let parts = Array(repeating: String(repeating: "a", count: 60), count: 4)
        let id = try ModuleID(parts.joined(separator: "."))
        let ring = try ring()
        ring.add(.failed(reason: String(repeating: "é", count: 400), need: id), of: id)
        ring.add(.failed(reason: String(repeating: "é", count: 400), need: nil), of: id)
        let found = try #require(ring.contents).last(2)
        #expect(found.map(\.module) == [id, id])
        guard case .failed(let reason, nil) = found[0].fact else {
            Issue.record("\(found[0])")
            return
        }
        #expect(reason.hasPrefix("ééé") && reason.utf8.count < 200)
    }

    @Test("a record in memory is read through the ring alone")
    func inMemory() throws {
        let ring = try RecordRing(inMemory: Self.smallest)
        ring.add(.created)
        #expect(ring.contents?.last(3).map(\.fact) == [.created])
        #expect(read() == [])
    }

    // MARK: Damage

    @Test("no bytes of a file trap, and what is damaged is skipped")
    func damaged() throws {
        let ring = try ring()
        for fact in try Self.facts() { ring.add(fact, of: try ModuleID("x.a")) }
        let path = folder.path(RecordRing.name)
        let good = try readFile(at: path, limit: 1 << 20)
        let codes = Set(try Self.facts().map(\.fields.code))
        var random = SeededGenerator(seed: 7)
        var found = 0
        for _ in 0..<300 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let slot = Int.random(in: 0..<30, using: &random) * RecordLayout.slotSize
                let index = slot + Int.random(in: 0..<120, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
                // As of a program that knows the check.
                guard slot > 0, Bool.random(using: &random) else { continue }
                let used = bytes[
                    slot + RecordLayout.Offset.lengths..<slot + RecordLayout.textStart]
                let lengths = stride(from: used.startIndex, to: used.endIndex, by: 2).map {
                    Int(used[$0]) | Int(used[$0 + 1]) << 8
                }
                let end = RecordLayout.textStart + lengths.reduce(0, +)
                let check = bytes[slot..<slot + RecordLayout.slotSize].withUnsafeBytes {
                    UnsafeRawBufferPointer($0).recordCheck(of: end)
                }
                withUnsafeBytes(of: check) { bytes.replaceSubrange(slot + 8..<slot + 16, with: $0) }
            }
            let contents = RecordContents(Bytes(all: bytes))
            for entry in contents?.last(1000) ?? [] {
                #expect(codes.contains(entry.fact.fields.code))
                found += 1
            }
        }
        #expect(found > 1000)
        var bytes = good
        // The entry is torn, the others are there.
        bytes[2 * RecordLayout.slotSize + 84] ^= 1
        #expect(try #require(RecordContents(Bytes(all: bytes))).last(99).count == 29)
    }

    @Test("hostile numbers in valid entries", arguments: 0...30)
    func hostileNumbers(code: UInt8) {
        for number in [Int64.min, -1, .max] {
            let fields = RecordFields(
                code: code, numbers: SIMD4(repeating: number), name: "..", text: "\u{1B}[2J")
            guard let fact = HostRecord.Fact(fields) else { continue }
            let entry = HostRecord(time: WallTime(seconds: .max), fact)
            var json = JSONWriter()
            json.object { entry.writeMembers(to: &$0) }
            #expect(!entry.text.isEmpty && !json.bytes.isEmpty)
        }
    }

    @Test("what is not a record is replaced", arguments: ["", "short", "folder", "link"])
    func replaced(_ what: String) throws {
        let path = folder.path(RecordRing.name)
        switch what {
        case "folder": try makeFolders(path + "/x")
        case "link": #expect(symlink("/etc/passwd", path) == 0)
        default: try writeFile(what.utf8, to: path)
        }
        if what == "folder" {
            #expect(throws: FileError.self) { try self.ring() }
        } else {
            try ring().add(.created)
            #expect(read() == [.created])
        }
    }

    private struct Bytes: BoxSource {
        let all: [UInt8]
        let size: Int

        init(all: [UInt8], size: Int? = nil) { (self.all, self.size) = (all, size ?? all.count) }

        func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
            offset + count <= all.count ? Array(all[offset..<offset + count]) : nil
        }
    }
}
