extension RPCError {
    /// Creates the error for a caller from outside from the error of a call.
    init(ofCall error: any Error) {
        switch error {
        case let error as RouteError: self.init(error)
        case let error as ParameterError: self.init(.badParameter, "\(error)")
        case let failure as HandlerFailure:
            self.init(.failed, "\(failure.module) failed: \(failure.error)")
        default: self = .internalError("\(error)")
        }
    }

    fileprivate init(_ error: RouteError) {
        let code: RPCErrorCode =
            switch error {
            case .notFound, .noAction, .noModule: .notFound
            case .malformed: .malformedURL
            case .parameter: .badParameter
            case .refused: .notPermitted
            case .overdue, .tookTooLong, .noAnswerInTime: .overdue
            case .unavailable: .unavailable
            case .tooDeep, .notAnswered, .answersLater, .offLane: .failed
            case .stopped, .stoppedUnanswered: .notRunning
            case .cancelled: .cancelled
            // Errors in the app's own routes and rewrites are not caused by the caller.
            case .pattern, .conflict, .unknownModule, .rewriteLoop, .rewrite, .building,
                .otherModule, .repeatedAction, .reply:
                .internalError
            }
        self.init(code, "\(error)")
    }
}
