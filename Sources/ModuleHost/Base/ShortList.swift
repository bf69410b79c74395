extension Collection<String> {
    /// Returns the elements in one line, and how many there are beside those: `a, b and 3 more`.
    ///
    /// - Parameter limit: The largest number of elements that are shown.
    func shortList(atMost limit: Int = 8) -> String {
        let shown = prefix(limit).joined(separator: ", ")
        return count > limit ? "\(shown) and \(count - limit) more" : shown
    }
}
