/// A module whose asynchronous handlers may have several events at the same time.
///
/// ```swift
/// final class Uploads: AsyncMessageResponder, WindowedModule {
///     static let window = 64
///     …
/// }
/// ```
///
/// - Order: The handlers begin in the order of the events, and end in any. Between two suspensions no other handler of the module
///   runs. What comes without a payload, such as `background`, and what modules claim waits for all handlers, and the next event
///   for that.
/// - Durable events: the place of the module in the inbox is the first event that it has not returned from. A death of the host has
///   the events from there on delivered again, at most ``window`` that it had returned from among them, marked as repeated.
public protocol WindowedModule: Module {
    /// The number of events that the module may have at a time, from 1 to 256.
    static var window: Int { get }
}

extension WindowedModule {
    /// Returns the window.
    ///
    /// - Throws: ``WindowError`` for a number outside of the limits.
    static var checkedWindow: Int {
        get throws(WindowError) {
            guard OpenWindow.sizes ~= window else { throw WindowError(number: window) }
            return window
        }
    }
}

/// The error of a window outside of its limits.
struct WindowError: Error, Hashable, CustomStringConvertible {
    let number: Int

    var description: String {
        "its window is \(number), and must be from \(OpenWindow.sizes.lowerBound) to \(OpenWindow.sizes.upperBound)"
    }
}
