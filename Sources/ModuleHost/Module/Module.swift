/// A unit of application behaviour that a host creates, tells about the app's life, and releases.
///
/// The slatefile names the modules to run. The host makes one instance of each, in slatefile order,
/// and releases them in reverse order. A module receives only the events whose responder protocol it
/// conforms to:
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
/// The host enters a module from one thread at a time, so a module needs no locks. It is not
/// `Sendable`: work that leaves the lane takes values along, never the module.
public protocol Module: AnyObject {
    /// Creates the module, before any event reaches it.
    ///
    /// Read settings and register start-up tasks here. Open files and sockets in
    /// ``LaunchResponder/didFinishLaunching(_:)``, where a failure is reported and undone.
    ///
    /// - Order: Slatefile order.
    /// - Thread: The lane.
    /// - Deadline: `deadlines.launch`, 20 s unless the slatefile says otherwise.
    /// - Parameter context: The module's settings, its log, and what it may reach.
    /// - Throws: Any error; the host names this module when it reports it. Where the slatefile says
    ///   `"required": true` the launch ends (exit 70), else the app runs without it.
    init(context: ModuleContext) throws
}

/// A module that says what its settings are, so that `hostd check` can try them.
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

/// The main module: it supplies the root.
public protocol RootProvider: Module {
    /// The URL that is opened at the end of launch; nil where the app has nothing to show.
    ///
    /// - Thread: The lane, once every module has launched.
    /// - Throws: Any error; it is reported, and no root is opened.
    var root: String? { get throws }
}
