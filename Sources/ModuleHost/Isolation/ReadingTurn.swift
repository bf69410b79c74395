import Synchronization

/// The thread whose turn it is to read the output of a process.
///
/// ```
/// reader → caller → lull → reader
/// any of these → ended
/// ```
///
/// A caller is a thread that waits for a response. The reading thread does not read for a lull after a caller, which
/// may read again soon. ``apply(_:)`` is the only transition function.
enum ReadingTurn: Hashable {
    /// The reading thread reads.
    case reader
    /// A caller reads.
    case caller(Reader)
    /// A caller has read, and may read again soon.
    case lull(Reader)
    /// The output has ended.
    case ended

    /// The reading thread while it does not read.
    enum Reader: UInt8 {
        /// It watches the output: it has not looked since the caller began to read.
        case watching
        /// It sleeps for a lull, in which a caller has begun to read.
        case dozing
        /// It sleeps for a lull, in which no caller has begun to read.
        case resting
        /// It sleeps until the caller has read.
        case asleep
    }

    /// A change that can be requested.
    enum Change: Hashable, CaseIterable {
        /// A caller begins to read.
        case hold
        /// The caller has read.
        case release
        /// No caller will read soon.
        case rest
        /// The reading thread looks whose turn it is, once it is awake.
        case look
        case end
    }

    /// Whether a caller reads.
    var isCallers: Bool { if case .caller = self { true } else { false } }

    /// Moves to the state that follows a change.
    ///
    /// - Returns: Whether the reading thread is to be woken.
    mutating func apply(_ change: Change) -> Bool {
        switch (change, self) {
        case (.end, _): return move(to: .ended)

        case (.hold, .reader): return move(to: .caller(.watching))
        case (.hold, .lull(.resting)): return move(to: .caller(.dozing))
        case (.hold, .lull(let reader)): return move(to: .caller(reader))

        case (.release, .caller(.asleep)): return move(to: .reader, wakes: true)
        case (.release, .caller(let reader)): return move(to: .lull(reader))

        case (.rest, .lull(.watching)): return move(to: .reader)
        case (.rest, .lull): return move(to: .reader, wakes: true)

        case (.look, .caller(.watching)), (.look, .caller(.dozing)):
            return move(to: .caller(.resting))
        case (.look, .caller): return move(to: .caller(.asleep))
        case (.look, .lull(.watching)), (.look, .lull(.dozing)): return move(to: .lull(.resting))
        case (.look, .lull): return move(to: .reader)

        // The change has happened already, or is not possible. Spelled out, with no `default`: a new state must be
        // placed by hand.
        case (.hold, .caller), (.hold, .ended), (.release, .reader), (.release, .lull),
            (.release, .ended), (.rest, .reader), (.rest, .caller), (.rest, .ended),
            (.look, .reader), (.look, .ended):
            return false
        }
    }

    private mutating func move(to next: Self, wakes: Bool = false) -> Bool {
        self = next
        return wakes
    }
}

/// In one byte, so that a thread can look at it without a lock.
extension ReadingTurn: RawRepresentable, AtomicRepresentable {
    init?(rawValue: UInt8) {
        switch (rawValue >> 2, Reader(rawValue: rawValue & 3)) {
        case (0, .watching?): self = .reader
        case (0, .dozing?): self = .ended
        case (1, let reader?): self = .caller(reader)
        case (2, let reader?): self = .lull(reader)
        default: return nil
        }
    }

    var rawValue: UInt8 {
        switch self {
        case .reader: 0
        case .ended: 1
        case .caller(let reader): 1 << 2 | reader.rawValue
        case .lull(let reader): 2 << 2 | reader.rawValue
        }
    }
}
