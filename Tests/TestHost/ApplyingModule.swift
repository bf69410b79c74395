public import ModuleHost

/// Has its host apply the slatefile in a message on the topic `apply`, and logs the outcome.
public final class ApplyingModule: MessageResponder, TopicListener {
    /// The topics that it receives.
    public static var topics: [String] { ["apply"] }

    private let context: ModuleContext

    /// - Parameter context: Its host.
    public init(context: ModuleContext) { self.context = context }

    /// Applies the slatefile.
    public func receive(_ message: Message) {
        context.host.apply(
            slatefile: message.payload?.string ?? "", probation: .milliseconds(50)
        ) { [log = context.log] result in
            switch result {
            case .success(let change): log.notice("applied: \(change.summary)")
            case .failure(let refusal): log.notice("not applied: \(refusal)")
            }
        }
    }
}
