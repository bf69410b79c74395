extension RandomAccessCollection where Index == Int {
    /// Returns the first index from which on every element satisfies a condition; the end index for none.
    ///
    /// Takes a number of steps that grows with the logarithm of the count.
    ///
    /// - Parameter isBehind: The condition; false for all elements before the first that satisfies it.
    func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
