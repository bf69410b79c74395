import TestSupport
import Testing

@testable public import ModuleHostCore

/// An inbox in a folder of a test's own, with small limits where the test wants them.
final class InboxUnderTest: Sendable {
    let state: TemporaryFolder
    let folder: InboxFolder

    /// Makes one, its limits changed by `limits`.
    init(_ limits: (inout InboxLimits) -> Void = { _ in }) throws {
        state = try TemporaryFolder()
        var inboxLimits = InboxLimits()
        limits(&inboxLimits)
        folder = InboxFolder(in: StateDirectory(path: state.path), limits: inboxLimits)
        try folder.make()
    }

    /// The text of a segment.
    func text(_ number: UInt32 = 1) throws -> String {
        String(decoding: try bytes(number), as: UTF8.self)
    }

    func bytes(_ number: UInt32 = 1) throws -> [UInt8] {
        try readFile(at: folder.path(ofSegment: number), limit: 1 << 30)
    }

    /// Puts a segment there, or replaces one.
    func put(_ text: String, in number: UInt32 = 1) throws { try put(Array(text.utf8), in: number) }

    func put(_ bytes: [UInt8], in number: UInt32 = 1) throws {
        try writeFile(bytes, to: folder.path(ofSegment: number), mode: 0o600)
    }

    /// Appends as a program that keeps no rule.
    func appendBare(_ text: String, to number: UInt32 = 1) throws {
        let file = try AppendFile(path: folder.path(ofSegment: number))
        try file.append(Array(text.utf8))
    }

    /// All that a new reader finds.
    func read(from position: EventPosition? = nil, atMost count: Int = 1000) throws -> [Found] {
        let reader = try InboxReader(folder, from: position)
        return try reader.all(atMost: count)
    }
}

/// An item in the words of a test: `1:1 {"a":1} 1:9`, an error in front of the line.
struct Found: Hashable, CustomStringConvertible {
    let position: EventPosition
    let end: EventPosition
    let line: String
    let error: String?

    init(_ item: InboxItem) {
        position = item.position
        end = item.end
        line = String(decoding: item.bytes, as: UTF8.self)
        error = item.error?.description
    }

    var description: String { "\(position) \(error.map { "[\($0)] " } ?? "")\(line) \(end)" }
}

extension InboxReader {
    /// Everything until there is nothing more, in pieces of `count`.
    func all(atMost count: Int = 1000) throws -> [Found] {
        var found: [Found] = []
        while true {
            let items = try next(atMost: count)
            #expect(items.count <= count)
            if items.isEmpty { return found }
            found += items.map(Found.init)
        }
    }
}

extension InboxWriter {
    func append(_ lines: String...) throws -> [EventPosition] {
        try append(lines.map { Array($0.utf8) })
    }
}

extension EventPosition: ExpressibleByStringLiteral {
    /// A position as its text says it; of any other text one that no record has.
    public init(stringLiteral text: String) {
        self = EventPosition(text) ?? EventPosition(segment: 0, offset: 0)
    }
}

/// A line of so many bytes.
func line(ofLength count: Int) -> String { String(repeating: "x", count: count) }
