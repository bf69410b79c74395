/// How large things in the inbox get.
package struct InboxLimits: Hashable, Sendable {
    /// A segment of this many bytes or more is appended to no longer; the next one is begun.
    package var segment = 8 << 20
    /// How many segments stay behind the one that is being worked off, so that whoever sends an event again
    /// after a death, by its id, is known.
    package var done: UInt32 = 2
    /// The longest line, without its newline; what is longer is no record.
    package var line = 1 << 20
    /// How much of a line that is too long is kept, for whoever wants to know whose it was.
    ///
    /// No more than ``line``.
    package var excerpt = 4 << 10
    /// How many bytes are read at a time.
    package var reading = 256 << 10
    /// How many bytes one append may have.
    ///
    /// Positions have 32 bits for the place in a segment; this leaves room for it.
    package var batch = 1 << 30

    package init() {}
}
