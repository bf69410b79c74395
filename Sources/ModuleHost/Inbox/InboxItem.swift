/// One line of the log, where it stands, and where the next one is to be looked for.
package struct InboxItem: Sendable {
    /// The position of its first byte.
    package let position: EventPosition
    /// The place of that byte in the segment: of one that lies beyond what positions reach, too.
    package let offset: Int
    /// The position of what follows, or any before that: what is done up to here is done with this.
    package let end: EventPosition
    /// The line, without its newline; of one that is a fault, its beginning.
    ///
    /// A part of what was read at once, and so keeps all of that in memory: read it and let it go.
    package let bytes: ArraySlice<UInt8>
    /// The reason why the line cannot be a record; nil for a whole line, whatever it contains.
    package let fault: InboxFault?
}
