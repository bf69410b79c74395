public import ModuleHost

/// A module that takes its time for what it receives: until it is told to finish, or for the time of its settings.
public final class SlowReceiver: AsyncRemoteNotificationResponder, AsyncMessageResponder,
    RoutedModule, ConfiguredModule
{
    /// Its settings.
    public struct Configuration: Decodable, Sendable {
        /// The time that each event takes, in milliseconds; nil for one that ends with a call.
        public var ms: Int?
    }

    struct Event: Decodable, Sendable { var id: String }

    /// Its routes.
    public static var routes: [Route<SlowReceiver>] {
        [
            Route("finish/:id", action: "finish", access: .public) {
                (module, event: Event, call) in
                module.finished.insert(event.id)
                module.waiting.removeValue(forKey: event.id)?.resume()
                return module.done
            }
        ]
    }

    /// Its topics.
    public let topics = ["slow.*"]

    private let context: ModuleContext
    private let time: Duration?
    private var done = 0
    private var finished: Set<String> = []
    private var waiting: [String: CheckedContinuation<Void, Never>] = [:]

    /// - Parameter context: Its log and settings.
    /// - Throws: Where its settings are not valid.
    public init(context: ModuleContext) throws {
        self.context = context
        time = try context.config(Configuration.self).ms.map { .milliseconds($0) }
    }

    private func work(isolation: isolated any Actor) async throws {
        let id = context.event?.id ?? "?"
        context.log.notice("\(id) begun\(context.event?.isRepeated == true ? " again" : "")")
        if let time {
            try await Task.sleep(for: time)
        } else if !finished.contains(id) {
            await withCheckedContinuation { waiting[id] = $0 }
        }
        done += 1
        context.log.notice("\(context.event?.id ?? "?") done")
    }

    /// Takes its time.
    public func didReceiveRemoteNotification(
        _ notification: RemoteNotification, isolation: isolated any Actor
    ) async throws -> FetchResult {
        try await work(isolation: isolation)
        return .newData
    }

    /// Takes its time.
    public func receive(_ message: Message, isolation: isolated any Actor) async throws {
        try await work(isolation: isolation)
    }
}
