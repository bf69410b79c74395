import AppService

private struct WaitParameters: Decodable, Sendable {
    static let limits = 1...3_600_000

    var ready: Bool?
    var module: String?
    var withinMs: Int?
}

extension ControlMethods {
    /// Adds `wait`: `{"ready": …, "module": …, "withinMs": …}`, which responds when the host is ready, or the module
    /// runs, or neither will be, or the time is up (60 s by default).
    mutating func addWait(for host: AppHost) {
        add("wait", WaitParameters.self) { parameters, call in
            let limit = parameters.withinMs ?? 60_000
            guard WaitParameters.limits.contains(limit) else {
                return call.reply.fail(
                    .invalidParameters(
                        "/withinMs: \(limit) is not in \(WaitParameters.limits.lowerBound)…"
                            + "\(WaitParameters.limits.upperBound)"))
            }
            let condition = HostCondition(
                needsReady: parameters.ready ?? (parameters.module == nil),
                module: parameters.module)
            let cancel = host.wait(for: condition, within: .milliseconds(limit)) { outcome in
                call.reply.give(outcome) { $0.write(to: &$1) }
                call.cancellation?.end()
            }
            call.cancellation?.whenCancelled(cancel)
        }
    }
}

extension HostWaitOutcome {
    /// Writes the outcome as one object.
    fileprivate func write(to json: inout JSONWriter) {
        json.object {
            switch self {
            case .met: $0.member("outcome", "met")
            case .failed(let reason):
                $0.member("outcome", "failed")
                $0.member("reason", reason)
            case .missing(let texts):
                $0.member("outcome", "waiting")
                $0.member("missing", texts)
            }
        }
    }
}
