extension Collection<String> {
    /// Joins the elements in one line that shows only so many: `a, b and 3 more`.
    ///
    /// - Parameter limit: The largest number of elements that are shown.
    /// - Returns: The line.
    package func shortList(atMost limit: Int = 8) -> String {
        let shown = prefix(limit).joined(separator: ", ")
        return count > limit ? "\(shown) and \(count - limit) more" : shown
    }
}
