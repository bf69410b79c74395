import AppService

/// The reason why a URL cannot be opened, or a route cannot be added.
@nonexhaustive public enum RouteError: Error, Hashable, Sendable {
    /// The URL is not valid.
    case malformed(RouteURLError)
    /// The pattern is not valid.
    case pattern(RoutePatternError)
    /// Two routes answer the same URLs.
    case conflict(String, of: ModuleID, with: String, ofModule: ModuleID)
    /// The route belongs to a module that does not exist.
    case unknownModule(ModuleID)
    /// There is no route that the caller can reach; `nearest` is one that it can.
    case notFound(url: String, nearest: String?)
    /// Rewrites do not end: the URLs, in order.
    case rewriteLoop([String])
    /// The rewrite cannot be applied.
    case rewrite(from: String, to: String, RewriteError)
    /// The parameters are not a valid request.
    case parameter(ParameterError)
    /// The URL cannot be built.
    case building(pattern: String, BuildingError)
    /// The route was called with an instance of another class.
    case otherModule(expected: String, found: String)
    /// Two routes of one module have the same action.
    case repeatedAction(String, of: ModuleID)
    /// The module has no action that the caller can reach; `nearest` is one that it can.
    case noAction(String, of: String, nearest: String?)
    /// The call by name is to a module that does not exist, or has no action that the caller can reach;
    /// `nearest` is one that has.
    case noModule(String, nearest: String?)
    /// The reply has another type than the caller asked for.
    case reply(expected: String, found: String)
    /// The module is busy beyond its deadline, and calls do not wait for it.
    case overdue(ModuleID)
    /// The module did not return from this call in time. The effects of the call stay.
    case tookTooLong(ModuleID)
    /// The route answers later, and the caller cannot wait: it called synchronously.
    case answersLater(String, of: ModuleID)
    /// The handler has released its ``Reply`` without an answer.
    case notAnswered(String)
    /// The answer did not come in time. The effects of the call stay.
    case noAnswerInTime(String, of: ModuleID, Duration)
    /// The module cannot be called now, for this reason: it is not created yet, it failed, or it was removed.
    case unavailable(ModuleID, because: String)
    /// An interceptor refuses the call, for this reason.
    case refused(by: ModuleID, String)
    /// Modules already call each other 64 deep; the modules on the stack, outermost first.
    case tooDeep([ModuleID])
    /// The caller is not code of a module on the lane.
    case offLane
    /// The caller cancelled the call. If it had begun, its effects stay.
    case cancelled
    /// The app stopped before the module answered. The effects of the call stay.
    case stoppedUnanswered(ModuleID)
    /// The host has stopped, or is about to.
    case stopped

    /// The errors of a rewrite.
    @nonexhaustive public enum RewriteError: Error, Hashable, Sendable {
        /// `from` has no scheme.
        case relative
        /// `to` is not a URL once the names are filled in.
        case target(RouteURLError)
        /// `to` has a name that `from` does not always bind.
        case unboundName(String, nearest: String?)
        /// `to` has a query item `token`, which would count as the caller's.
        case token
        /// Another rewrite has the same `from`.
        case repeated
    }

    /// The errors in the parameters of a URL to build.
    @nonexhaustive public enum BuildingError: Error, Hashable, Sendable {
        /// A name of the pattern has no value.
        case missing(String)
        /// There is a value for a name that the pattern does not have.
        case unused(String, nearest: String?)
        /// A name that takes one value has none or several.
        case count(String, Int)
        /// The value is not possible in a segment: empty, `.` or `..`.
        case segment(String, value: String)
        /// The value does not read as the type of its placeholder.
        case type(String, value: String, expected: String)
        /// The pattern would bind the values in another way when the URL is read back.
        case ambiguous
        /// A relative pattern has no module, or an absolute one has a module.
        case base
        /// The URL would exceed a limit.
        case limit(RouteURLError)
    }
}

extension RouteError {
    private static let noModule = "no module "

    /// Returns the error of a call by name that nothing answers, as received from another process.
    ///
    /// - Parameters:
    ///   - nearest: The most similar name.
    ///   - message: The error in words, as ``description`` gives it.
    static func noAction(
        _ action: String, of module: String, nearest: String?, crossing message: String
    ) -> RouteError {
        message.hasPrefix(noModule)
            ? .noModule(module, nearest: nearest) : .noAction(action, of: module, nearest: nearest)
    }

    /// Returns the error of a call whose module was unloaded before it had answered.
    static func unloadedUnanswered(_ module: ModuleID) -> RouteError {
        .unavailable(module, because: "it was unloaded before it answered")
    }

    private static func unavailable(_ module: ModuleID) -> String {
        "\(module) cannot be called now: "
    }

    /// Returns the error of a module, as received from another process.
    ///
    /// - Parameter message: The error in words, as ``description`` gives it.
    static func unavailable(_ module: ModuleID, crossing message: String) -> RouteError {
        let start = unavailable(module)
        return .unavailable(
            module, because: String(message.dropFirst(message.hasPrefix(start) ? start.count : 0)))
    }
}

extension RouteError: CustomStringConvertible {
    /// The error and the remedy, on one line.
    public var description: String {
        switch self {
        case .malformed(let error): error.description
        case .pattern(let error): error.description
        case .conflict(let pattern, let module, let other, let otherModule):
            "route \(quoted(pattern)) of \(module) answers the same URLs as "
                + "\(quoted(other)) of \(otherModule); leave one of them out"
        case .unknownModule(let module): "no module '\(module)' that could have routes"
        case .notFound(let url, let nearest?):
            "no route for \(quoted(url))"
                + (RoutePattern.typeMismatch(of: url, with: nearest).map { ": \($0)" } ?? "")
                + "; did you mean \(quoted(nearest))?"
        case .notFound(let url, nil): "no route for \(quoted(url))"
        case .rewriteLoop(let urls):
            "the rewrites never end: "
                + Self.oneRound(of: urls).map { excerpt($0) }.joined(separator: " → ")
        case .rewrite(let from, let to, let error):
            "rewrite from \(quoted(from)) to \(quoted(RouteToken.hide(in: to))): \(error)"
        case .parameter(let error): error.description
        case .building(let pattern, let error):
            "no URL of pattern \(quoted(pattern)): \(error)"
        case .otherModule(let expected, let found):
            "a route of \(expected) was called with a \(found)"
        case .repeatedAction(let action, let module):
            "\(module) has two routes under the action \(quoted(action)); give one another name"
        case .noAction(let action, let module, let nearest?):
            "no action \(quoted(action)) of \(quoted(module)); did you mean \(quoted(nearest))?"
        case .noAction(let action, let module, nil):
            "no action \(quoted(action)) of \(quoted(module))"
        case .noModule(let module, let nearest):
            Self.noModule + quoted(module) + (nearest.map { "; did you mean \(quoted($0))?" } ?? "")
        case .reply(let expected, let found): "the reply is a \(found), not a \(expected)"
        case .overdue(let module): "\(module) is unresponsive, and calls do not wait for it"
        case .tookTooLong(let module): "\(module) took too long to answer, and is unresponsive"
        case .answersLater(let action, let module):
            "\(quoted(action)) of \(module) answers later, and a synchronous call cannot wait for that: pass a completion, "
                + "or use 'await' in an asynchronous handler or with offLane"
        case .notAnswered(let action):
            "\(quoted(action)) was not answered: its handler has released its Reply"
        case .noAnswerInTime(let action, let module, let time):
            "\(module) did not answer \(quoted(action)) within \(time.briefText)"
        case .unavailable(let module, let reason): Self.unavailable(module) + reason
        case .refused(let module, let reason): "refused by \(module): \(reason)"
        case .tooDeep(let chain):
            "modules already call each other \(CallDepth.maximum) deep: "
                + Self.text(ofChain: chain)
        case .offLane:
            "only code of a module on the lane uses an object of another module: call an action instead"
        case .cancelled: "the caller cancelled the call"
        case .stoppedUnanswered(let module): "the app stopped before \(module) answered"
        case .stopped: "the host has stopped"
        }
    }
}

extension RouteError {
    /// Returns the modules that called each other, outermost first; a part that repeats to the end appears
    /// once, behind those before it.
    static func text(ofChain chain: [ModuleID]) -> String {
        for start in chain.indices {
            for period in 1..<max(1, (chain.count - start) / 2 + 1) {
                let count = (chain.count - start) / period
                let end = start + count * period
                guard chain[(start + period)...] == chain[start..<(chain.count - period)] else {
                    continue
                }
                let ids = chain[..<(start + period)].map(\.text)
                let part = "\(count) × (\(ids[start...].joined(separator: " → ")))"
                return (ids[..<start] + [part] + chain[end...].map(\.text))
                    .joined(separator: " → ")
            }
        }
        return chain.map(\.text).joined(separator: " → ")
    }

    /// Returns the URLs up to the first that repeats.
    private static func oneRound(of urls: [String]) -> ArraySlice<String> {
        var seen: Set<String> = []
        let end = urls.firstIndex { !seen.insert($0).inserted }
        return end.map { urls[...$0] } ?? urls[...]
    }
}

extension RouteError.RewriteError: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .relative: "'from' has no scheme; begin it with one, such as slate://"
        case .target(let error): "'to' is a \(error)"
        case .unboundName(let name, let nearest?):
            "'from' does not always bind ':\(name)'; did you mean ':\(nearest)'?"
        case .unboundName(let name, nil): "'from' does not always bind ':\(name)'"
        case .token:
            "'to' has the query item 'token', which only callers give; leave it out"
        case .repeated: "another rewrite is from the same URLs; leave one of them out"
        }
    }
}

extension RouteError.BuildingError: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .missing(let name): "parameter '\(name)' is missing"
        case .unused(let name, let nearest?):
            "the pattern has no parameter \(quoted(name)); did you mean '\(nearest)'?"
        case .unused(let name, nil): "the pattern has no parameter \(quoted(name))"
        case .count(let name, let count): "parameter '\(name)' takes one value, not \(count)"
        case .segment(let name, ""): "parameter '\(name)' is empty, which no segment can be"
        case .segment(let name, let value):
            "parameter '\(name)' makes the segment \(quoted(value)), which no URL can have"
        case .type(let name, let value, let expected):
            "parameter '\(name)': expected \(expected), found \(quoted(value))"
        case .ambiguous: "the pattern would bind these values in another way when read back"
        case .base: "a relative pattern needs a scheme and a module, and an absolute one neither"
        case .limit(let error): error.description
        }
    }
}
