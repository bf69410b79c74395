/// The conversion of call errors that cross between processes: the code is the kind of error, the detail the
/// name with it.
extension RPCError {
    /// Creates the error for a module's own call from the error of the handler.
    init(ofModulesCall error: any Error) {
        switch error {
        case RouteError.parameter(let error), let error as ParameterError:
            self.init(.badParameter, "\(error)", detail: error.name)
        case let error as RouteError:
            let plain = RPCError(ofCall: error)
            self.init(plain.code, plain.message, detail: error.crossingDetail)
        default: self.init(.failed, "\(error)")
        }
    }
}

extension RouteError {
    fileprivate var crossingDetail: String? {
        switch self {
        case .notFound(_, let nearest), .noAction(_, _, let nearest), .noModule(_, let nearest):
            nearest
        case .overdue(let module), .tookTooLong(let module), .unavailable(let module, _):
            module.text
        default: nil
        }
    }
}

extension ParameterError {
    /// Creates the error of another process's route.
    ///
    /// - Parameters:
    ///   - name: The parameter's name; empty where the error does not concern a single one.
    ///   - message: The error in words, as ``description`` gives it.
    init(crossing name: String, _ message: String) {
        var reason = message[...]
        for prefix in ["parameter '\(excerpt(name))': ", "parameter '\(excerpt(name))' "]
        where reason.hasPrefix(prefix) {
            reason = reason.dropFirst(prefix.count)
            break
        }
        self.init(name: name, kind: .refused(value: nil, String(reason)))
    }
}

/// The target of a call to another process.
enum CrossingCall {
    case url(String)
    case action(String, of: String)
}

extension CrossingCall {
    /// Returns the error for the caller, as it would be within one process.
    func error(for answer: RPCError) -> any Error {
        let module = answer.detail.flatMap { try? ModuleID($0) }
        switch (answer.code, module) {
        case (.badParameter, _):
            return ParameterError(crossing: answer.detail ?? "", answer.message)
        case (.notFound, _): return notFound(nearest: answer.detail, answer.message)
        case (.overdue, let module?): return RouteError.overdue(module)
        case (.unavailable, let module?):
            return RouteError.unavailable(module, crossing: answer.message)
        case (.notRunning, _): return RouteError.stopped
        default: return IsolationError.answered(answer.code, answer.message)
        }
    }

    private func notFound(nearest: String?, _ message: String) -> RouteError {
        switch self {
        case .url(let url): .notFound(url: url, nearest: nearest)
        case .action(let action, let module):
            .noAction(action, of: module, nearest: nearest, crossing: message)
        }
    }
}
