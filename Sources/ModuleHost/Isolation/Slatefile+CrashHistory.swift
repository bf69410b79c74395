extension Slatefile {
    /// Has the modules run in a process of their own at whose work hosts have died, where the slatefile
    /// leaves that to the host (``IsolationPolicy/auto``).
    ///
    /// - Parameters:
    ///   - directory: The state directory, where the deaths are counted.
    ///   - death: One that may not be counted yet.
    ///   - log: Says who is isolated, and why; and where the count cannot be used, which costs no more than
    ///     that.
    /// - Returns: The slatefile with these modules isolated.
    func isolatingCrashed(
        in directory: StateDirectory, after death: LastDeath? = nil, log: Log
    ) -> Slatefile {
        guard isolation == .auto else { return self }
        let candidates = Set(modules.filter(\.mayBeIsolated).map(\.id))
        let blamed: CrashHistory
        do throws(CrashHistoryError) {
            if let death {
                blamed = try .update(in: directory) { blamed in
                    // One that is isolated already was at work elsewhere.
                    let isolated = blamed.isolated
                    return blamed.blame(for: death) {
                        candidates.contains($0) && isolated[$0] == nil
                    }
                }
            } else {
                blamed = try CrashHistory(in: directory)
            }
        } catch {
            log.warning("\(error)")
            return self
        }
        var slatefile = self
        for (index, module) in modules.enumerated() where candidates.contains(module.id) {
            guard let blame = blamed.isolated[module.id] else { continue }
            slatefile.modules[index].isolation = .process
            slatefile.modules[index].hostDeaths = blame.deaths
            guard death != nil else { continue }
            log.of(module: module.id.text).warning(
                """
                runs in a process of its own, since \(blame.deaths) hosts died while it was at work; \
                to take it back: 'hostd modules --reset-crashes \(module.id)'
                """)
        }
        return slatefile
    }
}

extension Slatefile.Module {
    /// Whether it runs in the host, where neither the slatefile nor its class says that it must.
    fileprivate var mayBeIsolated: Bool {
        guard isolation == nil, case .entry(let name) = implementation else { return false }
        let type = try? EntryType(name, search: .none).type
        return (type as? any ServiceProvider.Type)?.services.isEmpty ?? true
    }
}
