import Glibc
public import ModuleHost

/// Is made by a message on the topic `hang`, and never returns from `init`.
public final class HangingModule: MessageResponder, TopicListener {
    /// The topics that make it.
    public static var topics: [String] { ["hang"] }

    /// - Parameter context: Its log.
    public init(context: ModuleContext) {
        context.log.info("hangs")
        while true { pause() }
    }

    /// Never called.
    public func receive(_ message: Message) {}
}
