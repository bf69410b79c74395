/// The bounds of what engines take and give.
public enum StreamLimits {
    /// The bytes of the names and values of an event: an inbox accepts no larger one.
    public static let event = 1 << 20
    /// The events of one window.
    public static let window = 256
    /// The bytes of one window.
    public static let windowBytes = 16 << 20
    /// The bytes of one reply of an engine.
    ///
    /// Larger ones are not received, however much the engine sends.
    public static let reply = 64 << 20
    /// The characters of a reason of a dead letter.
    public static let reason = 1000
    /// The dead letters that are kept, about.
    ///
    /// The oldest ones make room.
    public static let deadLetters = 10_000

    /// Checks that a window may be published.
    ///
    /// - Throws: ``StreamError/invalid(_:)``.
    package static func check(_ window: [StreamEvent]) throws(StreamError) {
        guard window.count <= Self.window else {
            throw .invalid(
                "a window has at most \(Self.window) events, not \(window.count): publish fewer at a time"
            )
        }
        var total = 0
        for (index, event) in window.enumerated() {
            guard index == 0 || window[index - 1].position < event.position else {
                throw .invalid(
                    "event \(event.position) is in the window behind \(window[index - 1].position): "
                        + "positions must grow")
            }
            guard event.position > .start else {
                throw .invalid("0-0 is not a position: those of events are greater")
            }
            guard event.size <= Self.event else {
                throw .invalid(
                    "event \(event.position) has \(event.size) bytes: at most \(Self.event) are possible"
                )
            }
            total += event.size
        }
        guard total <= windowBytes else {
            throw .invalid(
                "the window has \(total) bytes: at most \(windowBytes) are possible; publish fewer events "
                    + "at a time")
        }
    }
}
