/// The newest lines of a log, for followers that begin later.
struct TailHistory {
    /// The number of lines that are kept, and of the bytes of their text; the newest line is kept in any case.
    static let limit = (records: 1000, bytes: 1 << 18)

    private var records = Deque<LogRecord>()
    private var bytes = 0
    /// Whether older lines were dropped.
    private var isCut = false

    /// The time from which on lines are kept; nil if none was dropped.
    var start: WallTime? { isCut ? records.first?.time : nil }

    mutating func append(_ record: LogRecord) {
        records.append(record)
        bytes += record.size
        while records.count > Self.limit.records
            || bytes > Self.limit.bytes && records.count > 1
        {
            bytes -= records.popFirst()?.size ?? 0
            isCut = true
        }
    }

    /// Returns the lines that a request begins with, the oldest first.
    func lines(for request: TailRequest) -> [LogRecord] {
        var found: [LogRecord] = []
        for index in (0..<records.count).reversed() where found.count < request.count {
            guard let record = records[index] else { continue }
            // A clock that was set back does not end the search: lines are in the order of their making.
            if let since = request.since, record.time < since { continue }
            if request.wants(record) { found.append(record) }
        }
        return found.reversed()
    }
}

extension LogRecord {
    /// The bytes of its text.
    var size: Int {
        fields.reduce(message.utf8.count) { size, field in
            if case .string(let text) = field.value { size + text.utf8.count } else { size }
        }
    }
}
