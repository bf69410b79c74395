/// The lines that a follower wants.
package struct TailRequest: Sendable {
    /// The number of kept lines that a follower may have at first.
    package static let counts = 0...TailHistory.limit.records
    /// The least level unless another one is asked for, whatever the log writes.
    package static let level = LogLevel.info

    /// The number of kept lines to begin with, the newest ones.
    package var count = 0
    /// The time from which on kept lines count; nil for all.
    package var since: WallTime?
    /// The id of the module that wrote the lines, or that they name; nil for all.
    package var module: String?
    /// The event that lines belong to, by its external name; nil for all lines.
    package var event: String?
    package var level = Self.level

    package init() {}

    /// Returns whether the follower wants a line.
    func wants(_ record: LogRecord) -> Bool {
        guard record.level >= level else { return false }
        if let event, record.event != event { return false }
        guard let module else { return true }
        return record.module == module || record.names(module)
    }
}

extension LogRecord {
    /// Returns whether its message or a field has an id as a word.
    fileprivate func names(_ id: String) -> Bool {
        message.hasWord(id)
            || fields.contains { field in
                if case .string(let text) = field.value { text.hasWord(id) } else { false }
            }
    }
}

extension String {
    /// Returns whether an id occurs that is not a part of a longer one.
    fileprivate func hasWord(_ id: String) -> Bool {
        guard contains(bytesOf: id) else { return false }
        return utf8.split { !$0.isPartOfID }.contains { word in
            let end = word.lastIndex { $0 != UInt8(ascii: ".") } ?? word.startIndex
            return word[...end].elementsEqual(id.utf8)
        }
    }
}

extension UInt8 {
    /// Whether a module id may have it.
    fileprivate var isPartOfID: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

private struct TailParameters: Decodable, Sendable {
    let last: Int?
    let since: String?
    let module: String?
    let event: String?
    let level: String?
}

extension TailRequest {
    /// Reads the parameters of `tail`.
    ///
    /// - Parameters:
    ///   - parameters: The parameters, none of which is required.
    ///   - now: The time that `since` may count from.
    /// - Throws: The error that answers the request.
    init(_ parameters: JSONValue?, at now: WallTime = .now()) throws(RPCError) {
        let given = try ControlMethods.read(TailParameters.self, from: parameters)
        if let last = given.last {
            guard Self.counts.contains(last) else {
                throw .invalidParameters("/last: \(last) is not in \(Self.counts)")
            }
            count = last
        }
        if let text = given.since {
            guard let time = TimelineReport.Start(text)?.time(at: now) else {
                throw .invalidParameters("/since: \(quoted(text)) is not a duration or a time")
            }
            since = time
        }
        module = given.module
        if let name = given.event {
            guard EventKind(rawValue: name) != nil else {
                throw .invalidParameters("/event: \(quoted(name)) is not an event")
            }
            event = name
        }
        if let word = given.level {
            guard let known = LogLevel(rawValue: word) else {
                let words = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameters("/level: \(quoted(word)) is not one of \(words)")
            }
            level = known
        }
    }
}
