public import ModuleHost

/// A message as any module may receive it, in the ways that the peers need.
public protocol PingResponder: AnyObject {
    /// Receives the message.
    func ping() throws
    /// The same as an asynchronous requirement.
    func pingLater() async throws
}

/// A module that does the least a handler can do: it changes a property of its own.
public final class PingModule: Module, PingResponder {
    private var pings = 0

    /// Needs nothing of its context.
    public init(context: ModuleContext) {}

    /// Counts by 1.
    public func ping() throws { pings &+= 1 }

    /// Counts by 1.
    public func pingLater() async throws { pings &+= 1 }
}

/// Another one, so that no call goes to one class only.
public final class OtherPingModule: Module, PingResponder {
    private var pings = 0

    /// Needs nothing of its context.
    public init(context: ModuleContext) {}

    /// Counts by 2.
    public func ping() throws { pings &+= 2 }

    /// Counts by 2.
    public func pingLater() async throws { pings &+= 2 }
}
