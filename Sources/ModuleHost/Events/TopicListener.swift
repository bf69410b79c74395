/// A ``MessageResponder`` that declares the topics of its messages, so that they are known without creating it.
///
/// ```swift
/// public final class GreeterModule: TopicListener {
///     public static var topics: [String] { ["user.signed-in"] }
///
///     public func receive(_ message: Message) { … }
/// ```
///
/// ``MessageResponder/topics`` of such a module are these, unless it implements that property, too. `hostd graph`
/// shows them.
public protocol TopicListener: MessageResponder, SendableMetatype {
    /// The topics to receive, as ``MessageResponder/topics`` describes them.
    static var topics: [String] { get }
}
