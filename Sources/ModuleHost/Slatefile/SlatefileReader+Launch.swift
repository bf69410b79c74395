/// The keys with which a command declares its uses, as they are written.
struct WrittenDemands {
    var provides: Int?
    var events: Int?
    var topics: Int?

    /// The nodes, in the order of the keys.
    var nodes: [Int] { [provides, events, topics].compactMap(\.self) }
}

/// Modules that are made when they are needed.
extension SlatefileReader {
    /// Checks that a lazy module has no setting that requires it at launch, and that no other module has `idle`.
    ///
    /// - Parameter idle: The node of `idle`; nil where it is not written.
    mutating func checkLaunch(of module: Slatefile.Module, _ idle: Int?, at node: Int) {
        guard module.isLazy else {
            if let idle { report(.idleEager, at: idle - 1) }
            return
        }
        let place = document.value(of: ModuleKey.launch.rawValue, in: node) ?? node
        if module.isMain {
            report(
                .lazy(
                    "the main module provides the root at launch, so it cannot be lazy; remove \"launch\""
                ),
                at: place)
        }
        if module.isRequired {
            report(
                .lazy(
                    "the app cannot require a module that is made when it is needed; remove \"launch\" or "
                        + "\"required\""), at: place)
        }
    }

    /// Checks that a program that ends has no setting of a module that stays.
    mutating func checkEnd(of module: Slatefile.Module, _ found: ModuleMembers, at node: Int) {
        if let ends = found.ends, found.command == nil, module.isolation != .process {
            report(
                .lazy(
                    "only a program can end: 'ends' is for a 'command', or for an 'entry' with "
                        + "\"isolation\": \"process\""), at: ends - 1)
        }
        if let main = found.isMain {
            report(
                .lazy(
                    "the main module runs as long as the app, so it cannot end; remove \"ends\" or \"main\""
                ), at: main - 1)
        }
        if let idle = found.idle {
            report(
                .lazy("a program that ends is not unloaded when it is idle; remove \"idle\""),
                at: idle - 1)
        }
        if module.isLazy, let launch = document.value(of: ModuleKey.launch.rawValue, in: node) {
            report(
                .lazy(
                    "a program that ends runs at launch, and not at a use of it; remove \"launch\" or \"ends\""
                ), at: launch - 1)
        }
    }

    /// Returns the uses that a command declares; nil where it declares none.
    mutating func declaration(
        _ written: WrittenDemands, isCommand: Bool
    ) -> Slatefile.CommandDeclaration? {
        guard isCommand else {
            for node in written.nodes {
                report(.declaredByClass(document.writtenString(node - 1)), at: node - 1)
            }
            return nil
        }
        guard !written.nodes.isEmpty else { return nil }
        return Slatefile.CommandDeclaration(
            routes: written.provides.map { routes($0) } ?? [],
            events: written.events.map { events($0) } ?? [],
            topics: written.topics.map { topics($0) } ?? [])
    }

    private mutating func routes(_ node: Int) -> [String] {
        let limit = (Slatefile.Limits.list, "routes" as StaticString)
        var routes: [String] = []
        for element in elements(
            of: node, "an array of patterns such as \"item/:id\"", limit: limit)
        {
            guard let text = nonEmptyString(element, "a pattern") else { continue }
            do throws(RoutePatternError) {
                _ = try RoutePattern(text)
                routes.append(text)
            } catch {
                report(.pattern(error), at: element)
            }
        }
        return routes
    }

    private mutating func topics(_ node: Int) -> [String] {
        let limit = (Slatefile.Limits.list, "topics" as StaticString)
        return elements(of: node, "an array of topics", limit: limit).compactMap {
            nonEmptyString($0, "a topic")
        }
    }

    private mutating func events(_ node: Int) -> [EventKind] {
        let limit = (Slatefile.Limits.list, "events" as StaticString)
        var events: [EventKind] = []
        for element in elements(of: node, "an array such as [\"push\"]", limit: limit) {
            guard let name = string(element) else { continue }
            guard let event = EventKind(rawValue: name) else {
                let nearest = nearestName(to: name, in: EventKind.allCases.map(\.rawValue))
                report(.unknownEvent(name, nearest: nearest), at: element)
                continue
            }
            if event == .message {
                report(.lazy("messages are declared by their topics; use \"topics\""), at: element)
            } else if !event.makesModules {
                report(.makesNoModule(event), at: element)
            } else if events.contains(event) {
                report(.repeatedWord(name), at: element)
            } else {
                events.append(event)
            }
        }
        return events
    }
}

extension Slatefile.Module {
    /// Whether the module is made when it is first needed.
    package var isLazy: Bool { launch == .lazy }
}

extension Sequence<Slatefile.Module> {
    /// Returns the modules that these need, also for one another.
    ///
    /// - Parameter find: Returns the entry of a module that counts; nil for one that does not, whose needs are not
    ///   looked at either.
    /// - Returns: Those that count.
    func needs(find: (ModuleID) -> Slatefile.Module?) -> Set<ModuleID> {
        var found: Set<ModuleID> = []
        var needs = flatMap(\.needs)
        while let need = needs.popLast() {
            guard !found.contains(need), let entry = find(need) else { continue }
            found.insert(need)
            needs += entry.needs
        }
        return found
    }
}

extension Slatefile {
    /// Returns whether a command declares an event among its `events`.
    static func declares(_ event: EventKind) -> Bool { event.makesModules && event != .message }

    /// The modules that enabled ones need.
    var neededModules: Set<ModuleID> { Set(modules.lazy.filter(\.isEnabled).flatMap(\.needs)) }

    /// By place among the enabled modules: whether it is made at launch, since it is not lazy, or since a module that
    /// is made at launch needs it.
    var madeAtLaunch: [Bool] {
        var place = modules.count(where: \.isEnabled)
        var needed: Set<ModuleID> = []
        var made = Array(repeating: true, count: place)
        // A need stands before the module that has it.
        for module in modules.reversed() where module.isEnabled {
            place -= 1
            made[place] = !module.isLazy || needed.contains(module.id)
            if made[place] { needed.formUnion(module.needs) }
        }
        return made
    }
}
