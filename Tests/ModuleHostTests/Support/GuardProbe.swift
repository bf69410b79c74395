import ModuleHostCore

/// An interceptor that is notified of unanswered calls, too; it notes both in its probe and does what
/// the test wants.
final class GuardProbe: ConfiguredModule, CallInterceptor, NotFoundResponder {
    struct Configuration: Decodable { var probe: String }

    private let probe: Probe?
    private let name: String

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
        name = String(context.id.text.split(separator: ".").last ?? "")
    }

    func intercept(_ call: InterceptedCall) throws -> Interception {
        try probe?.judge("\(name) sees \(call.text)", call) ?? .proceed
    }

    func didNotFind(_ call: InterceptedCall, error: RouteError) throws {
        _ = try probe?.judge("\(name) misses \(call.text): \(error)", call)
    }
}

extension InterceptedCall {
    /// What is asked for, by whom, and whether in earnest.
    fileprivate var text: String {
        let target =
            switch target {
            case .url(let url): url.text
            case .action(let action, let module): "\(module)/\(action)"
            @unknown default: ""
            }
        return "\(isDryRun ? "can " : "")\(target) of \(origin.isRemote ? "outside" : "\(origin)")"
    }
}
