import AppService

extension ControlMethods {
    /// Adds `health`: `{"withinMs": …}`, how the host is doing as far as its lane comes round within so
    /// long (2 s unless said otherwise).
    package mutating func addHealth(of host: Host) {
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
