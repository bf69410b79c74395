extension EntryUse {
    /// Returns the entry of a class, also of one that has no name of its own to be found by: a class that is
    /// nested, private, generic or local.
    package static func entry(of type: any Module.Type) -> String { EntryType.name(of: type) }

    /// Returns whether the class of an entry is in this binary and provides a root.
    package static func providesRoot(_ entry: String) -> Bool {
        (try? EntryType(entry, search: .none))?.type is any RootProvider.Type
    }
}
