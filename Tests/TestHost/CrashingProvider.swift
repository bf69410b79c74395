public import ModuleHost

/// Registers a service that its class does not declare, and traps at a message.
public final class CrashingProvider: MessageResponder, TopicListener {
    /// The topics that it receives.
    public static var topics: [String] { ["crash"] }

    /// - Parameter context: Its services.
    /// - Throws: An error where it cannot provide the service.
    public init(context: ModuleContext) throws {
        try context.services.register((any CrashService).self) { Crashes() }
    }

    /// Traps.
    public func receive(_ message: Message) { fatalError("as the test wants") }
}

/// The service.
protocol CrashService: Sendable {}

private struct Crashes: CrashService {}
