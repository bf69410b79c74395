extension Slatefile {
    /// The warnings about lazy modules that nothing makes, as far as it is declared.
    private var unneededModules: [String] {
        // Member by member: to take each module out of the array costs more than the search.
        let lazyModules = modules.indices
            .filter { modules[$0].launch == .lazy && modules[$0].isEnabled }
            .map { modules[$0] }
        guard !lazyModules.isEmpty else { return [] }
        let needed = neededModules
        return lazyModules.filter { !needed.contains($0.id) }
            .compactMap { module in
                let demands = ModuleDemands(of: module)
                if demands.hasUndeclaredTopics {
                    return
                        "\(module.id): it is lazy, and no message makes it: its class does not declare the "
                        + "topics; make it conform to TopicListener"
                }
                guard demands.isEmpty else { return nil }
                return
                    "\(module.id): it is lazy, and nothing makes it: its class has no routes, and declares no "
                    + "events, topics and services; remove \"launch\", or add one of them"
            }
    }

    /// The warnings about modules that declare topics, and whose classes receive no messages.
    private var deafListeners: [String] {
        var isDeaf: [String: Bool] = [:]
        return modules.indices.compactMap { index in
            guard modules[index].isEnabled, case .entry(let entry) = modules[index].implementation
            else { return nil }
            let isDeafClass =
                isDeaf[entry]
                ?? modules[index].type.map {
                    $0 is any TopicListener.Type && !($0 is any MessageResponder.Type)
                        && !($0 is any EveryEventResponder.Type)
                } ?? false
            isDeaf[entry] = isDeafClass
            guard isDeafClass else { return nil }
            return
                "\(modules[index].id): its class declares topics, and receives no message: it conforms to "
                + "TopicListener; make it conform to MessageResponder, too"
        }
    }

    /// The warnings about modules in processes of their own whose classes declare what has no effect there.
    private var isolatedInterceptors: [String] {
        modules.indices.compactMap { index in
            guard modules[index].isEnabled, modules[index].isolation == .process,
                let type = modules[index].type
            else { return nil }
            let name: String
            if type is any CallInterceptor.Type {
                name = "CallInterceptor"
            } else if type is any NotFoundResponder.Type {
                name = "NotFoundResponder"
            } else {
                return nil
            }
            return
                "\(modules[index].id): its class is a \(name), which has no effect in a process of its own; "
                + "remove \"isolation\", or the conformance"
        }
    }

    /// Returns the warnings about a valid slatefile that will not run as it should on this machine, a line
    /// each.
    ///
    /// - Parameters:
    ///   - path: The slatefile's path: commands are relative to its folder.
    ///   - environment: The environment of the host.
    /// - Returns: The warnings, in the order of the modules; then those of signals.
    package func warnings(at path: String, environment: [String: String]) -> [String] {
        let settings = ProcessSettings(
            folder: parentFolder(of: path) ?? ".", environment: environment)
        var warnings = unneededModules + deafListeners + isolatedInterceptors
        for index in modules.indices where modules[index].isEnabled {
            guard case .command(let words) = modules[index].implementation, let name = words.first
            else { continue }
            let module = modules[index]
            let spec = LaunchSpec(words, naming: module.environment, in: settings)
            guard
                let problem = lookForProgram(
                    name, in: spec.folder, path: spec.environment["PATH"])
            else { continue }
            let error = IsolationError.noProgram(name, problem, folder: spec.folder)
            warnings.append("\(module.id): \(error)")
        }
        if case .event(.terminate, payload: _)? = signals[.terminate] { return warnings }
        return warnings + [
            "TERM does not stop the app: 'kill' and service managers send it for that"
        ]
    }
}
