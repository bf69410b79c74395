public import ModuleHost

/// A module whose long-running task fails at once.
public final class FailingTaskModule: RunningModule {
    /// - Parameter context: It needs none.
    public init(context: ModuleContext) {}

    /// Fails.
    public func run(isolation: isolated any Actor) async throws { throw Failure() }

    private struct Failure: Error, CustomStringConvertible {
        let description = "as the test wants"
    }
}
