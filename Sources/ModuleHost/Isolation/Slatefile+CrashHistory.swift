extension Slatefile {
    /// Returns the slatefile with the modules isolated that were running at deaths of hosts, where it leaves
    /// that to the host (``IsolationPolicy/auto``).
    ///
    /// - Parameters:
    ///   - death: A death that may not be counted yet.
    ///   - log: Receives the isolated modules with the reasons; and an error where the count cannot be used,
    ///     which has no other consequence.
    ///   - program: The name of the host's program, whose commands the log names.
    func isolatingCrashed(
        in directory: StateDirectory, after death: LastDeath? = nil, log: Log,
        program: String = ProgramIdentity.hostd.name
    ) -> Slatefile {
        guard isolation == .auto else { return self }
        let providers = FacadeProviders(of: self)
        let candidates = Set(modules.filter { $0.mayBeIsolated(beside: providers) }.map(\.id))
        if let death, let module = modules.first(where: { $0.id == death.culprit }),
            let obstacle = module.isolationObstacle(beside: providers)
                ?? module.undeclaredObstacle(at: death)
        {
            log.of(module: module.id.text).warning(
                "was running when the last host died, and stays in the host: \(obstacle)")
        }
        let history: CrashHistory
        do throws(CrashHistoryError) {
            if let death {
                history = try .update(in: directory) { history in
                    // A module that is isolated already was not running in the host.
                    let isolated = history.isolated
                    return history.record(death) {
                        candidates.contains($0) && isolated[$0] == nil
                            && !death.registering.contains($0)
                    }
                }
            } else {
                history = try CrashHistory(in: directory)
            }
        } catch {
            log.warning("\(error)")
            return self
        }
        var slatefile = self
        for (index, module) in modules.enumerated() where candidates.contains(module.id) {
            guard let record = history.isolated[module.id] else { continue }
            slatefile.modules[index].isolation = .process
            slatefile.modules[index].hostDeaths = record.deaths
            guard death != nil else { continue }
            log.of(module: module.id.text).warning(
                """
                runs in a process of its own, since \(record.deaths) hosts died while it was running; \
                to take it back: '\(program) modules --reset-crashes \(module.id)'
                """)
        }
        return slatefile
    }
}

extension Slatefile.Module {
    /// Returns whether the module runs in the host, where neither the slatefile nor its class requires that.
    fileprivate func mayBeIsolated(beside providers: FacadeProviders) -> Bool {
        guard isolation == nil, case .entry = implementation else { return false }
        return isolationObstacle(beside: providers) == nil
    }

    /// Returns the reason why the module cannot run in a process of its own that is known only since it ran in a host;
    /// nil where there is none.
    fileprivate func undeclaredObstacle(at death: LastDeath) -> String? {
        guard isolation == nil, type != nil, death.registering.contains(id) else { return nil }
        return "it registers a service that its class does not declare (ServiceProvider)"
    }

    /// Returns the reason why the module cannot run in a process of its own, where the slatefile leaves that to the
    /// host; nil where it can.
    fileprivate func isolationObstacle(beside providers: FacadeProviders) -> String? {
        guard isolation == nil, let type else { return nil }
        return (type as? any ServiceProvider.Type)?.isolationObstacle
            ?? (type as? any ServiceUser.Type).flatMap { providers.obstacle(to: $0) }
    }
}

/// The answer to whether a module can run in a process of its own.
package struct IsolationForecast: Hashable, Sendable, CustomStringConvertible {
    package let module: ModuleID
    /// The reason why it stays in the host; nil where it can leave it.
    package let obstacle: String?

    package var description: String {
        "\(module): "
            + (obstacle.map { "stays in the host: \($0)" } ?? "can run in a process of its own")
    }
}

extension Slatefile {
    /// Whether each module can run in a process of its own, where the slatefile leaves that to the host
    /// (``IsolationPolicy/auto``): those that have a class, in order; empty for any other slatefile.
    package var isolationForecasts: [IsolationForecast] {
        guard isolation == .auto else { return [] }
        let providers = FacadeProviders(of: self)
        return modules.compactMap { module in
            guard module.isolation == nil, case .entry = module.implementation else { return nil }
            return IsolationForecast(
                module: module.id, obstacle: module.isolationObstacle(beside: providers))
        }
    }
}
