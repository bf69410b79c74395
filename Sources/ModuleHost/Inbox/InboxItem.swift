/// A line of the log, with its place, and the place of the next one.
package struct InboxItem: Sendable {
    /// The position of its first byte.
    package let position: EventPosition
    /// The offset of that byte in the segment, also beyond the reach of positions.
    package let offset: Int
    /// The position of the next line, or any before that: everything up to here includes this line.
    package let end: EventPosition
    /// The line, without its newline; of one that is not valid, its beginning.
    ///
    /// A slice of a larger read, which it keeps in memory: use it and release it.
    package let bytes: ArraySlice<UInt8>
    /// The reason why the line cannot be a record; nil for a complete line, whatever it contains.
    package let error: InboxRecordError?
}
