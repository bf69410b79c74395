/// The reason why an engine did not do what was asked.
///
/// The text says what, where, why, and what to do.
public enum StreamError: Error, Hashable, Sendable {
    /// The engine cannot be reached, or did not answer: whether it did what was asked is not known. Ask again later.
    case away(String)
    /// The engine has no room. Nothing of the window was published. Ask again later.
    case full(String)
    /// The stream has another event at this position, or had one: the state directory of this host went back in time, or is a copy.
    /// The entries from here on are of that other host. Begin a new stream (``StreamName/renewed()``).
    case diverged(StreamPosition, String)
    /// Another host has this name. Begin a new stream (``StreamName/renewed()``).
    case owned(String)
    /// The engine does not keep what was promised, or does not let this host in: its settings, or those of the bridge, must change.
    case refused(String)
    /// The engine answered something that is not a part of its protocol.
    case unexpected(String)
    /// The caller asked for something that is not possible, whenever it asks.
    case invalid(String)
}

extension StreamError: CustomStringConvertible {
    /// The text of the error.
    ///
    /// It has no control characters, whatever the engine sent.
    public var description: String {
        switch self {
        case .away(let text), .full(let text), .diverged(_, let text), .owned(let text),
            .refused(let text), .unexpected(let text), .invalid(let text):
            text
        }
    }
}

/// Returns text from outside for a message: in quotes, without control characters, and with 200 characters at most.
package func quoted(_ text: some Sequence<UInt8>) -> String {
    var result = ""
    for (index, scalar) in String(decoding: Array(text.prefix(1000)), as: UTF8.self).unicodeScalars
        .enumerated()
    {
        guard index < 200 else { return "'\(result)…'" }
        // Format characters turn the direction of text, or hide a part of it.
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return "'\(result)'"
}

package func quoted(_ text: String) -> String { quoted(text.utf8) }
