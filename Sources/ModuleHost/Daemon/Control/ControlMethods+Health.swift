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
                call.reply.give($0.mapError(RPCError.init)) { $0.write(to: &$1) }
            }
        }
    }
}

private struct HealthParameters: Decodable, Sendable {
    static let limits = 1...600_000

    var withinMs: Int?
}
