/// Interceptors of calls, and modules that are notified of calls that no route answers.
extension CallDispatcher {
    /// Passes a call to the interceptors, in order.
    ///
    /// - Returns: The URL that the call is redirected to, or nil where it may be made.
    func redirection(
        of call: InterceptedCall, for caller: Caller, on thread: LaneThread
    ) throws -> String? {
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
            overdue: { entries, index in
                let slot = entries[index].slot
                return isGuarded(call, by: slot, for: caller)
                    ? rule(.refuse(Self.unresponsive), by: slot) : .next
            },
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

    /// Refuses a call whose route became known after the interceptors were asked, if one of them does not respond
    /// and guards it.
    func refuseIfGuarded(
        _ call: InterceptedCall, for caller: Caller, on thread: LaneThread
    ) throws {
        let judge = try asHost(on: thread) {
            interceptors.entries.first {
                gate.lane.isOverdue($0.slot) && isGuarded(call, by: $0.slot, for: caller)
            }?.slot.id
        }
        if let judge { throw RouteError.refused(by: judge, Self.unresponsive) }
    }

    /// The reason of an interceptor that cannot be asked.
    private static let unresponsive = "it is unresponsive, and cannot be asked"

    /// Returns the interceptor that did not respond, where a call has failed for that reason.
    func unresponsiveGuard(in error: any Error) -> ModuleID? {
        switch error {
        case RouteError.refused(let module, Self.unresponsive): return module
        case RouteError.tookTooLong(let module):
            // With routes, it may have been called as the target.
            let isGuard = interceptors.entries.contains { $0.slot.id == module }
            return isGuard && !table.hasRoute(of: module.text) { _ in true } ? module : nil
        default: return nil
        }
    }

    /// Notifies modules of a call that no route answers.
    func notifyNotFound(_ call: InterceptedCall, _ error: RouteError, on thread: LaneThread) {
        guard !notFoundResponders.isEmpty else { return }
        _ = gate.fanOut(
            to: notFoundResponders, on: thread, overdue: { _, _ in .next },
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
