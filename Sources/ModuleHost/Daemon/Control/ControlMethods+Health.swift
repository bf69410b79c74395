import AppService

extension ControlMethods {
    /// Adds `health`: `{"withinMs": …}`, the health of the host, provided that its lane responds within that
    /// time (2 s by default).
    package mutating func addHealth(of host: AppHost) {
        add("health", HealthParameters.self) { parameters, call in
            let limit = parameters.withinMs ?? 2000
            guard HealthParameters.limits.contains(limit) else {
                return call.reply.fail(
                    .invalidParameters(
                        "/withinMs: \(limit) is not in \(HealthParameters.limits.lowerBound)…"
                            + "\(HealthParameters.limits.upperBound)"))
            }
            host.read(within: .milliseconds(limit)) {
                $0.health
            } _: {
                let health = $0.flatMapError { host.healthInReload(after: $0) }
                call.reply.give(health.mapError(RPCError.init)) { $0.write(to: &$1) }
            }
        }
    }
}

extension AppHost {
    /// Returns the last known health if a module that a reload launches keeps the lane busy: its launch has a deadline
    /// of its own, longer than a check may wait.
    ///
    /// - Parameter silence: The reason why the lane did not respond.
    /// - Returns: The health, or the same reason.
    fileprivate func healthInReload(after silence: HostSilence) -> Result<HostHealth, HostSilence> {
        guard case .busy(let module?, _, inReload: true) = silence,
            var health = lastHealth.withLock({ $0 })
        else { return .failure(silence) }
        health.launching = module
        return .success(health)
    }
}

private struct HealthParameters: Decodable, Sendable {
    static let limits = 1...600_000

    var withinMs: Int?
}
