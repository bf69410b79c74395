extension JSONWriter {
    /// Writes a value on one line, with variables filled in.
    package mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .null: null()
        case .bool: self.value(value.bool ?? false)
        case .number: raw(value.textBytes)
        case .string: self.value(value.string ?? "")
        case .array: array { json in for element in value.elements { json.value(element) } }
        case .object:
            object { json in
                for member in value.members { json.member(member.key, member.value) }
            }
        }
    }

    /// Writes a member whose value is given.
    package mutating func member(_ key: String, _ value: JSONValue) {
        member(key) { $0.value(value) }
    }

    /// Writes a member that is an array of texts.
    package mutating func member(_ key: String, _ texts: [String]) {
        member(key) { $0.array { json in for text in texts { json.value(text) } } }
    }
}

extension JSONValue {
    /// Creates the value that a closure writes; nil for what is not valid JSON.
    package init?(writing write: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        write(&json)
        guard let value = try? JSONValue(parsing: json.bytes) else { return nil }
        self = value
    }
}
