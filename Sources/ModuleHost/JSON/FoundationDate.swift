/// Returns whether a type is Foundation's `Date`; this package does not depend on Foundation.
func isFoundationDate(_ type: Any.Type) -> Bool {
    let name = String(reflecting: type)
    return name == "Foundation.Date" || name == "FoundationEssentials.Date"
}
