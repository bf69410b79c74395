import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("What is left of a black box")
struct BlackBoxContentsTests {
    private let boot = BootID(high: 1, low: 2)

    /// A box with something in each field, as bytes.
    private func sample() throws -> [UInt8] {
        let test = try BlackBoxFolder()
        test.box.setName(try ModuleID("x.a"), of: 1)
        test.box.setBehind(1, EventPosition(segment: 1, offset: 2))
        test.box.setOverdue(1, true)
        test.box.setActivity(.event(.push))
        return try test.bytes
    }

    private func set(_ word: BlackBoxLayout.Word, _ value: UInt64, in bytes: inout [UInt8]) {
        set(word.rawValue, value, in: &bytes)
    }

    private func set(_ index: Int, _ value: UInt64, in bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value, toByteOffset: index * 8, as: UInt64.self)
        }
    }

    @Test("is nothing where it is short, long, torn or of another version")
    func shape() throws {
        let whole = try sample()
        #expect(BlackBox.Contents(whole, boot: boot) != nil)
        #expect(BlackBox.Contents([], boot: boot) == nil)
        for count in [1, 7, 8, 64, 383, 384, 4096, whole.count - 8, whole.count - 1] {
            #expect(BlackBox.Contents(Array(whole.prefix(count)), boot: boot) == nil)
        }
        #expect(BlackBox.Contents(whole + [0], boot: boot) == nil)
        #expect(BlackBox.Contents(whole + [UInt8](repeating: 0, count: 8), boot: boot) == nil)
        #expect(
            BlackBox.Contents([UInt8](repeating: 0, count: whole.count), boot: boot) == nil)
        #expect(
            BlackBox.Contents([UInt8](repeating: 0xFF, count: whole.count), boot: boot) == nil)
    }

    @Test(
        "is nothing where a word of the head makes no sense",
        arguments: [
            (BlackBoxLayout.Word.magic, 0), (.magic, .max), (.form, 0), (.form, 1 << 32),
            (.form, 1 << 32 | 1024), (.form, 2 << 32 | 1024), (.form, 3 << 32 | 1023),
            (.form, .max), (.state, 0),
            (.state, 4), (.state, .max), (.processID, 0), (.processID, 1 << 31),
            (.processID, .max), (.startedNanoseconds, 1_000_000_000),
        ] as [(BlackBoxLayout.Word, UInt64)])
    func head(_ word: BlackBoxLayout.Word, _ value: UInt64) throws {
        var bytes = try sample()
        set(word, value, in: &bytes)
        #expect(BlackBox.Contents(bytes, boot: boot) == nil)
    }

    @Test("names no module, and no place, once the machine went down, or where that is not known")
    func otherBoot() throws {
        var bytes = try sample()
        let present = try #require(BootID.current)
        #expect(BlackBox.Contents(bytes, boot: present)?.progress != nil)
        for boot in [boot, nil] {
            let contents = try #require(BlackBox.Contents(bytes, boot: boot))
            #expect(!contents.isOfThisBoot && contents.progress == nil)
            #expect(
                contents.death?.description
                    == "the machine went down while the last host (process \(CurrentProcess.id)) ran"
            )
            #expect(contents.death?.overdue == [] && contents.death?.activity == nil)
        }
        set(.bootHigh, 0, in: &bytes)
        set(.bootLow, 0, in: &bytes)
        #expect(BlackBox.Contents(bytes, boot: nil)?.isOfThisBoot == false)
        set(.state, BlackBox.State.ended.rawValue, in: &bytes)
        #expect(BlackBox.Contents(bytes, boot: boot)?.death == nil)
    }

    @Test("a word that no lane could have left names no wrong module")
    func words() throws {
        let whole = try sample()
        let present = try #require(BootID.current)
        // The module that the lane itself entered is unknown for a call whose stack has the host in it: to take the
        // called module for it would be to claim that the modules before it are done.
        for (bits, stack, module, outermost) in [
            (0, 1, nil, nil), (1 << 16 | 1, 1, "x.a", "x.a"), (1 << 16 | 1, 0, nil, nil),
            (1 << 16 | 1, 65, nil, nil), (2 << 16 | 1, 0, nil, nil),
            (2 << 16 | 1, 1, "x.a", nil), (2 << 16 | 1, .max, nil, nil),
            (1 << 16, 1, nil, nil), (1 << 16 | 2, 1, nil, nil), (1, 1, nil, nil),
            (0x7F << 16 | 1, 1, nil, nil), (64 << 16 | 1, 64, "x.a", nil), (.max, .max, nil, nil),
        ] as [(UInt64, UInt64, String?, String?)] {
            var bytes = whole
            if let number = Int(exactly: stack), 1...BlackBoxLayout.stacks ~= number {
                set(BlackBoxLayout(capacity: 1).stack(number - 1), bits, in: &bytes)
            }
            set(.stack, stack, in: &bytes)
            let contents = BlackBox.Contents(bytes, boot: present)
            #expect(contents?.module?.text == module)
            #expect(contents?.callers == [])
            #expect(contents?.outermost?.text == outermost)
        }
    }

    @Test("is nothing where not all that it mentions can be read")
    func unreadable() throws {
        let whole = try sample()
        let layout = BlackBoxLayout(capacity: 1024)
        // The name of the only module is the last part that is needed.
        for (readable, isBox) in [
            (64, false), (layout.name(0) * 8 - 1, false), (layout.name(2) * 8 - 1, false),
            (layout.name(2) * 8, true),
        ] {
            #expect((BlackBox.Contents(whole, boot: boot, readable: readable) != nil) == isBox)
        }
        // The name of a module that only the stack mentions is needed, too.
        var bytes = whole
        set(.stack, 1, in: &bytes)
        set(layout.stack(0), 1 << 16 | 7, in: &bytes)
        let end = layout.name(8) * 8
        #expect(BlackBox.Contents(bytes, boot: boot, readable: end - 1) == nil)
        #expect(BlackBox.Contents(bytes, boot: boot, readable: end) != nil)
    }

    @Test("a rank beyond all that there are is the last one")
    func rank() throws {
        var bytes = try sample()
        for rank in [UInt64.max, 1 << 63, UInt64(Int.max)] {
            set(BlackBoxLayout(capacity: 1024).rank(1), rank, in: &bytes)
            #expect(BlackBox.Contents(bytes, boot: boot)?.order.map(\.text) == ["x.a"])
        }
    }

    @Test("no bytes at all bring it down")
    func noise() throws {
        var random = SeededGenerator(seed: 7)
        let whole = try sample()
        let present = BootID.current
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let isHead = Bool.random(using: &random)
                let index = Int.random(in: 0..<(isHead ? 384 : bytes.count), using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            let contents = BlackBox.Contents(bytes, boot: present)
            _ = contents?.death?.description
        }
    }

    @Test("a link, a pipe and a file of another size are no box, and are replaced")
    func otherFiles() throws {
        let other = try BlackBoxFolder(app: "other")
        let whole = try sample()
        let largest = BlackBoxLayout(capacity: BlackBoxLayout.capacities.upperBound)
        let makers: [(String) throws -> Void] = [
            { symlink(other.folder.path("blackbox"), $0) },
            { mkfifo($0, 0o600) },
            { try writeFile([UInt8](repeating: 0, count: 1 << 10), to: $0) },
            { try writeFile(Array(whole.dropLast(8)), to: $0) },
            { try writeFile(whole + [UInt8](repeating: 0, count: 8), to: $0) },
            {
                try writeFile(whole, to: $0)
                truncate($0, off_t(largest.size + 8))
            },
        ]
        for make in makers {
            let folder = try TemporaryFolder()
            try make(folder.path("blackbox"))
            let test = try BlackBoxFolder(in: folder, app: "new")
            #expect(test.box.previous == nil)
            #expect(test.contents?.app == "new")
        }
        #expect(other.contents?.app == "other")
    }

    @Test("a machine's start is known by 128 bits in hexadecimal")
    func boots() {
        let text = "0f8fad5b-d9cb-469f-a165-70867728950e\n"
        #expect(
            BootID(text.utf8) == BootID(high: 0x0f8f_ad5b_d9cb_469f, low: 0xa165_7086_7728_950e))
        for text in ["", "0f8f", "xf8fad5b-d9cb-469f-a165-70867728950e", text + "0"] {
            #expect(BootID(text.utf8) == nil)
        }
        #expect(BootID(high: 0, low: 0) == nil)
        #expect(BootID.current != nil && BootID.current == BootID.current)
    }
}
