import EventStreams

/// The hosts of the tests, and their events.
enum Hosts {
    static let a = name("a000000000000001")
    static let b = name("b000000000000002")
    static let c = name("c000000000000003")

    static func name(_ text: String) -> StreamName {
        guard let name = StreamName(text) else { fatalError("'\(text)' is not a name") }
        return name
    }
}

func position(_ offset: UInt64, segment: UInt64 = 1) -> StreamPosition {
    StreamPosition(segment: segment, offset: offset)
}

func event(_ offset: UInt64, _ body: String = "{}", id: String? = nil) -> StreamEvent {
    StreamEvent(position: position(offset), id: id, topic: "shared.order", body: body)
}

extension StreamEngine {
    /// Reads until nothing comes any more, and returns all in the order in which it came.
    func readAll(
        of sources: [StreamName], after start: [StreamName: StreamPosition] = [:], limit: Int = 100
    ) async throws -> [StreamEntry] {
        var cursors = Dictionary(uniqueKeysWithValues: sources.map { ($0, start[$0] ?? .start) })
        var all: [StreamEntry] = []
        while true {
            let read = try await read(after: cursors, limit: limit)
            if read.isEmpty { return all }
            for entry in read { cursors[entry.source] = entry.position }
            all += read
        }
    }

    /// Reads the events of one host.
    func events(of source: StreamName) async throws -> [StreamEvent] {
        try await readAll(of: [source]).map { try $0.event() }
    }
}
