import ModuleHostCore

/// The last URLs that were shown, in a ring, so that dropping the oldest costs nothing.
struct BrowserHistory {
    /// A URL that was shown.
    struct Visit: Encodable, Hashable, Sendable {
        let url: String
        let time: DateTime
    }

    /// The largest number of URLs; when it shrinks the oldest are dropped.
    var limit: Int {
        didSet {
            guard limit != oldValue else { return }
            ring = visits(newest: limit).reversed()
            next = 0
        }
    }

    /// The visits; once the ring is full the oldest is at ``next``.
    private var ring: [Visit] = []
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// The number of URLs.
    var count: Int { ring.count }

    private var newest: Visit? { next > 0 ? ring[next - 1] : ring.last }

    /// Adds a URL, unless it is the newest already.
    mutating func add(_ url: String, at time: DateTime = .now) {
        guard limit > 0, newest?.url != url else { return }
        let visit = Visit(url: url, time: time)
        if ring.count < limit {
            ring.append(visit)
        } else {
            ring[next] = visit
            next = (next + 1) % limit
        }
    }

    /// The visits, newest first.
    ///
    /// - Returns: The visits, each with its time.
    func visits(newest count: Int) -> [Visit] {
        let ordered = ring[next...] + ring[..<next]
        return ordered.suffix(count).reversed()
    }
}

extension DateTime {
    /// The current instant.
    static var now: DateTime {
        let time = WallTime.now()
        return DateTime(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}

/// The maximum number of URLs in a history, from the settings.
struct HistoryLimit: Decodable, Hashable, Sendable {
    let count: Int

    /// Reads a number from settings.
    ///
    /// - Throws: An error where it is not a whole number from 0 to 10 000.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        count = try value.decode(Int.self)
        guard 0...10_000 ~= count else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a history has 0 to 10000 URLs; this is \(count)")
        }
    }
}
