import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Large pieces of memory")
struct LargeMemoryTests {
    /// Whether glibc has mapped a piece of its own, and not taken one of its store: it says so in the word
    /// before the piece.
    private func isMapped(_ piece: UnsafeMutableRawPointer) -> Bool {
        (piece - MemoryLayout<UInt>.size).load(as: UInt.self) & 2 != 0
    }

    @Test(
        "go back to the system also when larger ones have",
        .disabled(if: isSanitized, "a sanitizer has an allocator of its own"))
    func returned() throws {
        #expect(LargeMemory.returnAtOnce())
        // Else glibc would keep all up to this size from here on.
        for _ in 0..<2 { free(malloc(30 << 20)) }
        // Other tests may have left as much free memory in glibc's store, which it then takes first; it cannot
        // be enough for all of these.
        let pieces = try (0..<32).map { _ in try #require(malloc(28 << 20)) }
        defer { for piece in pieces { free(piece) } }
        #expect(pieces.contains(where: isMapped))
        let small = try #require(malloc(1 << 10))
        defer { free(small) }
        #expect(!isMapped(small))
    }

    @Test(
        "what many small pieces took goes back when it is asked for",
        .disabled(if: isSanitized, "a sanitizer has an allocator of its own"))
    func trimmed() throws {
        // The last one keeps all below it from going back by itself.
        let pieces = (0..<20_000).compactMap { _ in malloc(1 << 10) }
        let last = try #require(malloc(1 << 10))
        defer { free(last) }
        for piece in pieces { free(piece) }
        #expect(LargeMemory.returnAll())
    }
}
