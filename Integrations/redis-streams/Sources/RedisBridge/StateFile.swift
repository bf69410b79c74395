import EventStreams

/// A small file of a bridge: a JSON object whose values are texts of letters, digits, spaces and `-.=`.
struct StateFile {
    let path: String

    /// Returns the values; nil if there is no file.
    ///
    /// - Throws: ``DurableFileError``, also if the contents are something else.
    func read() throws(DurableFileError) -> [String: String]? {
        guard let bytes = try DurableFile.read(path, limit: 16 << 20) else { return nil }
        guard let values = Self.values(bytes) else {
            throw DurableFileError("\(quoted(path)) is not a file of a bridge")
        }
        return values
    }

    /// Replaces the values; those that are on the disk are whole, before and after.
    func write(_ values: [String: String]) throws(DurableFileError) {
        let lines = values.sorted { $0.key < $1.key }.map { "  \"\($0.key)\": \"\($0.value)\"" }
        try DurableFile.replace(path, with: Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8))
    }

    /// Texts in quotes without escapes, in pairs: the names and values of one object.
    private static func values(_ bytes: [UInt8]) -> [String: String]? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        let marks = stride(from: 0, to: parts.count, by: 2).map { index in
            String(parts[index].filter { !$0.isWhitespace })
        }
        let words = stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
        guard words.count.isMultiple(of: 2), marks.count == words.count + 1 else { return nil }
        if words.isEmpty { return marks == ["{}"] ? [:] : nil }
        for (index, mark) in marks.enumerated() {
            let expected =
                switch index {
                case 0: "{"
                case words.count: "}"
                default: index.isMultiple(of: 2) ? "," : ":"
                }
            guard mark == expected else { return nil }
        }
        var values: [String: String] = [:]
        for index in stride(from: 0, to: words.count, by: 2) {
            guard values.updateValue(words[index + 1], forKey: words[index]) == nil else {
                return nil
            }
        }
        return values
    }
}
