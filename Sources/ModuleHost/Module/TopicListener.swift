/// A module that declares the topics of its messages, so that they are known without creating it.
///
/// ```swift
/// public final class GreeterModule: MessageResponder, TopicListener {
///     public static var topics: [String] { ["user.signed-in"] }
/// ```
///
/// It receives nothing by itself: that takes ``MessageResponder``, or ``EveryEventResponder``, and `hostd check` warns of a
/// class without either. ``MessageResponder/topics`` of a module that conforms to both are these, unless it implements that
/// property, too. `hostd graph` shows them.
public protocol TopicListener: Module, SendableMetatype {
    /// The topics to receive, as ``MessageResponder/topics`` describes them.
    static var topics: [String] { get }
}
