/// The limits of the files of an inbox.
package struct InboxLimits: Hashable, Sendable {
    /// The size in bytes from which on a segment is no longer appended to; the next one is begun.
    package var segment = 8 << 20
    /// The number of segments that are kept behind the current one, so that an event that is sent again after
    /// a death is recognized by its id.
    package var done: UInt32 = 2
    /// The longest line, without its newline; a longer one is not a record.
    package var line = 1 << 20
    /// The bytes that are kept of a line that is too long, to identify its sender.
    ///
    /// No more than ``line``.
    package var excerpt = 4 << 10
    /// The number of bytes that are read at a time.
    package var reading = 256 << 10
    /// The number of bytes that are searched for the end of a line in one turn, so that other work is not
    /// delayed.
    package var step = 16 << 20
    /// The offset in a segment at which positions end: a line that begins there or behind has no position,
    /// and is not delivered.
    package var reach = Int(UInt32.max)
    /// The largest size of one append in bytes; together with ``segment`` less than ``reach``.
    package var batch = 1 << 30

    package init() {}
}
