/// Members that had another name in version 0.1: each is written under both names until 0.2.0.
///
/// `docs/control.md` lists them.
extension JSONWriter {
    /// Writes a member, and once more under its former name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - former: The former name.
    ///   - write: Writes the member under the name that it is given; called for each of the two.
    package mutating func member(
        _ name: String, formerly former: String, _ write: (inout JSONWriter, _ name: String) -> Void
    ) {
        for name in [name, former] { write(&self, name) }
    }
}

extension JSONValue {
    /// The member with a name, or with the name that an older host gives it.
    package subscript(name: String, formerly former: String) -> JSONValue? {
        self[name] ?? self[former]
    }
}
