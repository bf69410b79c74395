extension [UInt8] {
    /// Creates a buffer to read into, whose bytes have no defined value.
    ///
    /// The kernel allocates a page of it when that page is first written. Most messages to a host fit into
    /// one page, so an idle host takes no memory for its buffers.
    ///
    /// - Parameter count: The size in bytes. Only bytes that a read has written may be used.
    init(readingUpTo count: Int) {
        self.init(unsafeUninitializedCapacity: count) { _, room in room = count }
    }
}
