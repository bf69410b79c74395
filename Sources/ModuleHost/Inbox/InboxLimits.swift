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
    /// How many bytes are looked at in one go where they give no line, so that other work has its turn.
    package var step = 16 << 20
    /// Where in a segment positions end: what begins there or behind has none of its own, and is not
    /// delivered.
    package var reach = Int(UInt32.max)
    /// How many bytes one append may have; with ``segment`` less than ``reach``.
    package var batch = 1 << 30

    package init() {}
}
