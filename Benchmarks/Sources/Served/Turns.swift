extension Sequence {
    /// Returns the elements for one round: in the other order each second time.
    ///
    /// So none is always measured after the same one.
    ///
    /// - Parameter number: The number of the round.
    /// - Returns: The elements.
    package func turns(inRound number: Int) -> [Element] {
        number.isMultiple(of: 2) ? Array(self) : reversed()
    }
}
