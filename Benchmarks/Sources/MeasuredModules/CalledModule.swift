public import ModuleHost

/// A request of two fields, as a caller may send it and a handler take it.
public struct Sum: Codable, Sendable {
    /// One number.
    public var left: Int
    /// The other.
    public var right: Int
}

/// What a module offers by protocol.
public protocol Counting: Sendable {
    /// Counts on.
    func count(_ number: Int) -> Int
}

/// A service that does the least a service can do.
public struct PlainCounting: Counting {
    /// Counts on.
    public func count(_ number: Int) -> Int { number &+ 1 }
}

/// A module that is called: its handlers do the least a handler can do.
public final class CalledModule: RoutedModule {
    private var calls = 0

    /// Provides its service.
    public init(context: ModuleContext) throws {
        try context.services.register((any Counting).self) { PlainCounting() }
    }

    /// What it can be asked for.
    public static var routes: [Route<CalledModule>] {
        [
            Route("count") { (module, call) in module.count(call) },
            Route("sum", access: .public) { (module, request: Sum, call) in
                module.add(request)
            },
        ]
    }

    /// The handler without parameters.
    public func count(_ call: RouteCall) -> Int {
        calls &+= 1
        return calls
    }

    /// The handler with two parameters.
    public func add(_ request: Sum) -> Int { request.left &+ request.right }
}
