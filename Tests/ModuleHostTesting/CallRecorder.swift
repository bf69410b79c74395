import AppService
public import ModuleHostCore

/// A module that records the calls of a host: by URL and by action, of modules and of the test.
///
/// ```swift
/// let host = try await TestHost(modules: [Feed.self, CallRecorder.self])
/// …
/// #expect(try await host.calls.map(\.description) == ["slate://login by test.feed"])
/// ```
///
/// It receives each call before it is made, also one that no route answers, and lets it pass. Interceptors
/// after it in the list receive the call later, and those before it may refuse or redirect it.
public final class CallRecorder: Module, CallInterceptor {
    fileprivate private(set) var calls: [InterceptedCall] = []

    /// Creates the module.
    public init(context: ModuleContext) {}

    /// Records a call.
    public func intercept(_ call: InterceptedCall) -> Interception {
        if !call.isDryRun { calls.append(call) }
        return .proceed
    }
}

extension TestHost {
    /// The calls so far, in order, of a host with a ``CallRecorder``.
    ///
    /// - Throws: ``TestHostError`` if the host has none.
    public var calls: [RecordedCall] {
        get async throws {
            try await module(CallRecorder.self) { $0.calls.map(RecordedCall.init) }
        }
    }
}

/// A call that a host was asked to make.
public struct RecordedCall: Hashable, Sendable, CustomStringConvertible {
    /// The URL without its token, or the module and the action with a slash between them.
    public let target: String
    /// The parameters of a call by action; those of a URL are part of it.
    public let parameters: [String: [String]]
    /// The caller.
    public let origin: Origin

    init(_ call: InterceptedCall) {
        target =
            switch call.target {
            case .url(let url): url.text
            case .action(let action, let module): "\(module)/\(action)"
            @unknown default: "\(call.target)"
            }
        parameters = Dictionary(
            call.parameters.all.map { ($0.name, $0.values) }, uniquingKeysWith: { $1 })
        origin = call.origin
    }

    /// The target and the caller, such as `slate://login by com.mm.feed`.
    public var description: String { "\(target) by \(origin)" }
}
