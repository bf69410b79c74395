/// A writer of JSON text, which appends bytes without building a tree or strings on the way.
///
/// Commas and colons are written automatically, and nesting closes by construction:
///
/// ```swift
/// var json = JSONWriter()
/// json.object {
///     $0.member("event", "push")
///     $0.member("badges") { $0.array { $0.value(3) } }
/// }
/// json.bytes  // {"event":"push","badges":[3]}
/// ```
///
/// The text is one line, whatever the values: no newline, no control character and no other character that a
/// terminal obeys appears outside an escape. So a document and a newline make a line of a log that no value
/// can break or forge. Strings that are equal give equal bytes.
///
/// The caller must ensure that keys differ from each other, and that ``member(_:_:)-(_,String)`` is called in
/// an object and ``value(_:)-(String)`` in an array or at the top.
public struct JSONWriter: Sendable {
    /// The written text, in UTF-8.
    public private(set) var bytes: [UInt8]
    /// Whether the next key or value follows another.
    private var needsComma = false

    /// Creates a writer with nothing written.
    ///
    /// - Parameter capacity: The number of bytes to reserve.
    public init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Creates a writer that continues `bytes`, such as the lines before.
    ///
    /// - Parameter bytes: The text to continue, which stays unchanged.
    public init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

    /// Empties the writer and keeps its capacity, for the next document.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends the line.
    ///
    /// The next value begins a new document.
    @inline(never)
    public mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // The functions that write one value are not inlined. A copy of them for each member made the functions that write
    // documents some of the largest of the program, and the slowest to compile.

    // MARK: Structure

    /// Writes an object.
    ///
    /// - Parameter members: Writes the members, in their order.
    /// - Throws: What `members` throws; the object is then left open.
    public mutating func object<Failure: Error>(
        _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try nest(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    /// Writes an object whose first members are always the same.
    ///
    /// - Parameters:
    ///   - beginning: The opening brace and those members, as JSON text on one line, such as `{"slate":1`.
    ///   - members: Writes the other members, in their order.
    mutating func object(
        beginning: StaticString, _ members: (inout JSONWriter) -> Void
    ) {
        separate()
        bytes.append(beginning)
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes an array.
    ///
    /// - Parameter elements: Writes the elements, one after the other.
    /// - Throws: What `elements` throws; the array is then left open.
    public mutating func array<Failure: Error>(
        _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try nest(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
    }

    /// Writes an array with an object for each item, in their order.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - members: Writes the members of the object of an item.
    package mutating func objects<Item>(
        for items: some Sequence<Item>, _ members: (Item, inout JSONWriter) -> Void
    ) {
        array { json in
            for item in items { json.object { members(item, &$0) } }
        }
    }

    private mutating func nest<Failure: Error>(
        _ open: UInt8, _ close: UInt8, _ content: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        begin(open)
        try content(&self)
        end(close)
    }

    @inline(never)
    private mutating func begin(_ open: UInt8) {
        separate()
        bytes.append(open)
        needsComma = false
    }

    @inline(never)
    private mutating func end(_ close: UInt8) {
        bytes.append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func key(_ key: String) { append(key, isKey: true) }

    // MARK: Members of an object

    /// Writes a member with the value that `value` writes: exactly one value.
    public mutating func member<Failure: Error>(
        _ key: String, _ value: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try value(&self)
    }

    /// Writes a member that is a string.
    @inline(never)
    public mutating func member(_ key: String, _ value: String) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member that is a whole number.
    @inline(never)
    public mutating func member(_ key: String, _ value: Int) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member that is a number; null where it is not finite.
    @inline(never)
    public mutating func member(_ key: String, _ value: Double) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member that is true or false.
    @inline(never)
    public mutating func member(_ key: String, _ value: Bool) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member whose value is already JSON text, as ``raw(_:)`` does.
    public mutating func member(_ key: String, raw text: some Sequence<UInt8>) {
        self.key(key)
        raw(text)
    }

    // MARK: Values

    /// Writes a string.
    public mutating func value(_ value: String) { append(value, isKey: false) }

    /// Writes a whole number.
    @inline(never)
    public mutating func value(_ value: Int) {
        separate()
        bytes.appendDecimal(value)
    }

    /// Writes a number in the fewest digits that read back as the same number, or null where it is not
    /// finite: JSON has no representation for it.
    @inline(never)
    public mutating func value(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes true or false.
    @inline(never)
    public mutating func value(_ value: Bool) {
        separate()
        bytes.append(value ? "true" : "false")
    }

    /// Writes null.
    @inline(never)
    public mutating func null() {
        separate()
        bytes.append("null")
    }

    /// Writes text that is already JSON: exactly one value, which is not checked.
    ///
    /// Line breaks, which JSON allows only between tokens, become spaces.
    public mutating func raw(_ text: some Sequence<UInt8>) {
        separate()
        let start = bytes.count
        bytes.append(contentsOf: text)
        for lineBreak in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] {
            var searched = start
            while let found = bytes.firstIndex(of: lineBreak, from: searched) {
                bytes[found] = UInt8(ascii: " ")
                searched = found + 1
            }
        }
    }

    /// Writes a member that is a time in milliseconds, exact to the nanosecond: 84120 nanoseconds become
    /// `0.08412`.
    @inline(never)
    package mutating func member(_ key: String, millisecondsOf nanoseconds: Int) {
        self.key(key)
        needsComma = true
        bytes.appendMilliseconds(ofNanoseconds: nanoseconds)
    }

    /// Writes a member that is an instant, as ``WallTime/iso8601``.
    @inline(never)
    package mutating func member(_ key: String, _ time: WallTime) {
        self.key(key)
        needsComma = true
        bytes.append(UInt8(ascii: "\""))
        time.appendISO8601(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    @inline(never)
    private mutating func append(_ text: String, isKey: Bool) {
        bytes.append(quoting: text, with: JSONEscape.self, comma: needsComma, colon: isKey)
        needsComma = !isKey
    }
}

/// The escaping of strings in JSON: by RFC 8259, and of characters that a terminal or a reader of lines would
/// obey (``isObeyed(_:)``).
private enum JSONEscape: TextEscape {
    static func needsEscape(_ scalar: UInt32) -> Bool {
        scalar == 0x22 || scalar == 0x5C || isObeyed(scalar)
    }

    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22: bytes.append(UInt8(ascii: "\""))
        case 0x5C: bytes.append(UInt8(ascii: "\\"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(UInt8(ascii: "u"))
            bytes.appendHexadecimal(scalar, digits: 4)
        }
    }
}
