public import ModuleHost

/// A module that takes its time when the app goes to the background, and at its end: what its settings say.
public final class SlowSaver: AsyncBackgroundResponder, AsyncTerminationResponder,
    ConfiguredModule
{
    /// Its settings.
    public struct Configuration: Decodable, Sendable {
        /// The time that each of them takes, in milliseconds.
        public var ms: Int
    }

    private let context: ModuleContext
    private let time: Duration

    /// - Parameter context: Its log and settings.
    /// - Throws: Where its settings are not valid.
    public init(context: ModuleContext) throws {
        self.context = context
        time = .milliseconds(try context.config(Configuration.self).ms)
    }

    private func save(isolation: isolated any Actor) async throws {
        context.log.notice("\(context.event?.kind.rawValue ?? "?") begun")
        try await Task.sleep(for: time)
        context.log.notice("\(context.event?.kind.rawValue ?? "?") done")
    }

    /// Takes its time.
    public func didEnterBackground(isolation: isolated any Actor) async throws {
        try await save(isolation: isolation)
    }

    /// Takes its time.
    public func willTerminate(isolation: isolated any Actor) async throws {
        try await save(isolation: isolation)
    }
}
