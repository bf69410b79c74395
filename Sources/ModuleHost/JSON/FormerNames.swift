/// Members that had another name in version 0.1: each is written under both names until 0.2.0.
///
/// `docs/control.md` lists them.
extension JSONWriter {
    /// Writes a member, and once more under the name that it had.
    package mutating func member(
        _ name: String, formerly former: String, _ write: (inout JSONWriter) -> Void
    ) {
        member(name, write)
        member(former, write)
    }

    /// Writes a member with a number, and once more under the name that it had.
    package mutating func member(_ name: String, formerly former: String, _ value: Int) {
        member(name, value)
        member(former, value)
    }

    /// Writes a member with a text, and once more under the name that it had.
    package mutating func member(_ name: String, formerly former: String, _ value: String) {
        member(name, value)
        member(former, value)
    }
}

extension JSONValue {
    /// The member of a name, or of the name that an older host gives it.
    package subscript(name: String, formerly former: String) -> JSONValue? {
        self[name] ?? self[former]
    }
}
