import AppService

/// The beginning of a stop: modules answer what was accepted before it.
extension Shutdown {
    /// Sends the shutdown events to every launched module, then releases the modules.
    ///
    /// Modules answer what was accepted before; beyond a third of the time of the stop it begins without that.
    func begin(_ end: AppHost.End, origin: Origin) {
        self.origin = origin
        let request = app.host?.stopping.current
        let left = request.map { app.time.now().duration(to: $0.ends) - $0.limit / 3 * 2 }
        isWaiting = true
        app.whenAnswered(app.records, within: max(.zero, left ?? .zero), endsWithTime: true) {
            $0.shutdown.notify(end, within: request)
        }
    }

    private func notify(_ end: AppHost.End, within request: HostStop.Request?) {
        isWaiting = false
        let left = app.gate.lane.stopTelling()
        if left.dropped + left.durable > 0, let request {
            app.log.warning(
                "what was accepted before the stop took the modules longer than "
                    + "\((request.limit / 3).briefText), a third of \(request.limitName): "
                    + "\(left.dropped) events are dropped, \(left.durable) of the inbox left to the "
                    + "next host")
        }
        app.advance(.stop(end))
        app.endAnswerWaiters()
    }
}
