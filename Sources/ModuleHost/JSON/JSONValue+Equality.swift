extension JSONValue: Equatable {
    /// Returns whether both values are equal.
    public static func == (one: JSONValue, other: JSONValue) -> Bool {
        one.equals(other) { $0.textBytes == $1.textBytes }
    }

    /// Returns whether both values are the same, however their numbers are written: `1` is `1.0` and
    /// `10e-1`.
    ///
    /// Numbers are compared exactly, of any length.
    func hasSameContents(as other: JSONValue) -> Bool {
        equals(other) { JSONNumber($0.textBytes) == JSONNumber($1.textBytes) }
    }

    /// Compares two values; the depth of a text is limited, so this may recurse.
    private func equals(
        _ other: JSONValue, numbers isSame: (JSONValue, JSONValue) -> Bool
    ) -> Bool {
        guard kind == other.kind else { return false }
        switch kind {
        case .null: return true
        case .bool: return bool == other.bool
        case .number: return isSame(self, other)
        case .string: return Self.bytes(string) == Self.bytes(other.string)
        case .array:
            return elements.elementsEqual(other.elements) { $0.equals($1, numbers: isSame) }
        case .object:
            guard count == other.count else { return false }
            let values = Dictionary(
                other.members.lazy.map { (Self.bytes($0.key), $0.value) },
                uniquingKeysWith: { $1 })
            return members.allSatisfy { member in
                values[Self.bytes(member.key)]?.equals(member.value, numbers: isSame) ?? false
            }
        }
    }

    /// Returns the bytes of a string: as a `String` a composed accent equals a decomposed one.
    private static func bytes(_ text: String?) -> [UInt8] { Array((text ?? "").utf8) }
}
