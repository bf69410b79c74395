@testable import ModuleHostCore

extension HostUnderTest {
    /// Exchanges the slatefile for one of these modules, the first of which is the main one.
    func reload(_ entries: [Entry], top: String = "") async throws -> ReloadOutcome {
        let slatefile = try Self.slatefile(entries, top: top, probe: probe)
        return await withCheckedContinuation { continuation in
            host.reload(slatefile, tokens: .empty, origin: .host) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// The same with modules by their short names.
    func reload(_ names: String..., top: String = "") async throws -> ReloadOutcome {
        try await reload(names.map { Entry(name: $0) }, top: top)
    }
}

extension HostUnderTest {
    /// Waits until so many jobs are in the lane's list.
    func waiting(_ count: Int) async {
        while host.gate.lane.state.withLock({ $0.jobs.count }) < count { await Task.yield() }
    }
}

extension ReloadOutcome {
    /// What came of it, in a line.
    var text: String {
        switch self {
        case .applied(let plan): "applied: \(plan)"
        case .unchanged(let plan): "\(plan)"
        case .rolledBack(let reason): "undone: \(reason)"
        case .stopped: "stopped"
        }
    }
}
