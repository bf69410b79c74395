public import ModuleHost

/// The main module.
public final class MainModule: Module, RootProvider, BackgroundResponder, RemoteNotificationResponder, TerminationResponder {
    public var root: String? { nil }
    private let log: Log
    var count = 0
    public init(context: ModuleContext) throws { log = context.log 
      try context.startup("warm", priority: .high) { 42 } then: { self.log.info("got \($0)") } }
    public func didReceiveRemoteNotification(_ n: RemoteNotification) throws -> FetchResult { count += 1; if count % 1000 == 0 { log.info("count \(count)") }; return .newData }
    public func willTerminate() { log.info("count \(count)") }
}
