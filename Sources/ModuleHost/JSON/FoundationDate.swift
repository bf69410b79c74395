/// Returns whether a type is `Date` of Foundation, on which this package does not depend.
func isFoundationDate(_ type: Any.Type) -> Bool {
    let name = String(reflecting: type)
    return name == "Foundation.Date" || name == "FoundationEssentials.Date"
}
