extension JSONWriter {
    /// Writes a value for display: without its white space, with `•••` for strings that came from the
    /// environment and for the tokens of URLs.
    public mutating func redacted(_ value: JSONValue) {
        switch value.kind {
        case .null: null()
        case .bool: self.value(value.bool == true)
        case .number: raw(value.textBytes)
        case .string:
            self.value(value.isSecret ? "•••" : RouteToken.hide(in: value.string ?? ""))
        case .array:
            array { array in
                for element in value.elements { array.redacted(element) }
            }
        case .object:
            object { object in
                for member in value.members {
                    object.member(member.key) { $0.redacted(member.value) }
                }
            }
        }
    }
}
