/// Interceptors of calls, and modules that are notified of calls that no route answers.
extension CallDispatcher {
    /// Passes a call to the interceptors, in order.
    ///
    /// - Returns: The URL that the call is redirected to, or nil where it may be made.
    /// - Throws: ``RouteError/refused(by:_:)``.
    func redirection(of call: InterceptedCall, on thread: LaneThread) throws -> String? {
        var verdict = Interception.proceed
        var judge: ModuleID?
        var asked: ModuleID?
        func rule(_ interception: Interception, by slot: ModuleSlot) -> FanStep {
            if interception == .proceed { return .next }
            (verdict, judge) = (interception, slot.id)
            return .end
        }
        let end = gate.fanOut(
            to: interceptors, on: thread,
            overdue: { rule(.refuse("it is unresponsive, and cannot be asked"), by: $0) },
            failure: { rule(.refuse("\($1)"), by: $0) },
            alone: { _, _ in },
            { entries, index, entry in
                asked = entries[index].slot.id
                let interception = try entries[index].responder.intercept(call)
                guard entry.settle() else { throw LaneLost() }
                return rule(interception, by: entries[index].slot)
            })
        switch end {
        case .finished: break
        case .lost:
            guard let asked else { throw LaneLost() }
            throw RouteError.tookTooLong(asked)
        case .tooDeep: throw RouteError.tooDeep(chain(on: thread))
        }
        switch verdict {
        case .proceed: return nil
        case .redirect(let url): return url
        case .refuse(let reason):
            guard let judge else { throw RouteError.stopped }
            throw RouteError.refused(by: judge, reason)
        }
    }

    /// Notifies modules of a call that no route answers.
    func notifyNotFound(_ call: InterceptedCall, _ error: RouteError, on thread: LaneThread) {
        guard !notFoundResponders.isEmpty else { return }
        _ = gate.fanOut(
            to: notFoundResponders, on: thread, overdue: { _ in .next },
            failure: { slot, error in
                gate.lane.reportFailure(of: slot, error)
                return .next
            },
            alone: { entries, index in
                try entries[index].responder.didNotFind(call, error: error)
            },
            { entries, index, _ in
                try entries[index].responder.didNotFind(call, error: error)
                return .next
            })
    }
}
