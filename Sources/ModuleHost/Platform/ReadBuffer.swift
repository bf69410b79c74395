extension [UInt8] {
    /// Room to read into: so many bytes, of any value.
    ///
    /// The system gives each page of it when something is first read into that page: most of what is said to a host
    /// fits into one, and a host to which nobody speaks has none.
    ///
    /// - Parameter count: How many bytes. Of these only what was read may be looked at.
    init(readingUpTo count: Int) {
        self.init(unsafeUninitializedCapacity: count) { _, room in room = count }
    }
}
