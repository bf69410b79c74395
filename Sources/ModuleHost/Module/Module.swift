/// A unit of application behavior that a host creates, notifies of events, and releases.
///
/// The slatefile names the modules to run. The host creates one instance of each, in slatefile order, and
/// releases them in reverse order. A module receives only the events whose responder protocol it conforms to:
///
/// ```swift
/// public final class Greeter: Module, LaunchResponder {
///     private let log: Log
///
///     public init(context: ModuleContext) { log = context.log }
///
///     public func didFinishLaunching(_ launch: Launch) {
///         log.info("welcome to \(launch.app)")
///     }
/// }
/// ```
///
/// An entry of the slatefile is a top-level class, named with its target: `"entry": "Greetings.Greeter"`.
///
/// The host enters a module from one thread at a time, so a module needs no locks. It is not `Sendable`: work
/// that leaves the lane captures values, never the module.
public protocol Module: AnyObject {
    /// Creates the module, before any event reaches it.
    ///
    /// Read settings and register start-up tasks here. Open files and sockets in
    /// ``LaunchResponder/didFinishLaunching(_:)``, where a failure is reported and undone.
    ///
    /// - Order: Slatefile order.
    /// - Thread: The lane.
    /// - Deadline: `deadlines.launch`, 20 s unless the slatefile says otherwise.
    /// - Parameter context: The module's settings, its log, and the services of the host.
    /// - Throws: Any error; the host names this module when it reports the error. Where the slatefile has
    ///   `"required": true` the launch ends (exit 70), otherwise the app runs without the module.
    init(context: ModuleContext) throws
}

/// A module that declares the type of its settings, so that `hostd check` can decode them.
///
/// ```swift
/// public final class FeedModule: Module, ConfiguredModule {
///     public struct Configuration: Decodable, Sendable { public var server: String }
///     private let configuration: Configuration
///
///     public init(context: ModuleContext) throws {
///         configuration = try context.config(Configuration.self)
///     }
/// }
/// ```
public protocol ConfiguredModule: Module {
    /// The type of the module's `config` in the slatefile. A module without `config` is read as `{}`.
    associatedtype Configuration: Decodable & Sendable
}

/// The main module: it provides the root.
public protocol RootProvider: Module {
    /// The URL that is opened at the end of launch; nil where the app has none.
    ///
    /// - Thread: The lane, once every module has launched.
    /// - Throws: Any error; it is reported, and no root is opened.
    var root: String? { get throws }
}
