extension Sequence {
    /// Returns the elements in ascending order of a text; elements with the same text keep their order.
    ///
    /// The standard library's sort is compiled for each type of element and each order, four kilobytes of code each
    /// time. This one exists once for all types. It allocates three arrays, so it is for lists that are seldom sorted.
    package func sortedByText(_ text: (Element) -> String) -> [Element] {
        let elements = Array(self)
        return order(ofTexts: elements.map(text)).map { elements[$0] }
    }

    /// Returns the elements in ascending order of a number; elements with the same number keep their order.
    ///
    /// It exists once for all types, like ``sortedByText(_:)``.
    package func sortedByNumber(_ number: (Element) -> Int) -> [Element] {
        let elements = Array(self)
        return order(ofNumbers: elements.map(number)).map { elements[$0] }
    }
}

@inline(never)
private func order(ofTexts keys: [String]) -> [Int] {
    keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
}

@inline(never)
private func order(ofNumbers keys: [Int]) -> [Int] {
    keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
}
