/// The traces of what the process receives, and of what it requests.
extension IsolatedModule {
    /// Notes on whose behalf, and in which trace, the process may act from now on.
    func note(_ event: LifecycleEvent) {
        deliveredOrigins.note(event.origin)
        traces.note(event.trace)
    }

    /// Returns the trace of a call that is sent to the process.
    func traceOfCall() -> TraceContext? {
        let trace = context.host.services.gate.lane.currentTrace
        traces.note(trace)
        return trace
    }

    /// Returns the trace of a request of the process: the one that it names, else that of what it is doing if that is one thing.
    func trace(_ given: TraceContext?) -> TraceContext? {
        if let given { return traces.known(given) }
        let isCalled = process.queue.isExchanging || process.calls.withLock { $0.count > 0 }
        let open = isCalled || openEvents.count > 1 ? nil : openEvents.first
        return open?.event.trace ?? context.host.services.gate.lane.currentTrace
    }
}
