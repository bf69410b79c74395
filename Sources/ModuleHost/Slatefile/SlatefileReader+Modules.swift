import AppService

extension SlatefileReader {
    /// The members of one module, before they are checked together.
    struct ModuleMembers {
        var id: Int?
        var entry: Int?
        var command: Int?
        var source = SourceMembers()
        var product: Int?
        var deadline: Int?
        var killAfter: Int?
        var may: Int?
        var idle: Int?
        var ends: Int?
        var replace: Int?
        var instead: Int?
        var demands = WrittenDemands()
        var isEnabled = true
        var isMain: Int?
        /// The nodes of its needs that are ids.
        var needs: [Int] = []
    }

    /// Returns the modules in order, checked one by one and against each other.
    mutating func modules(
        _ node: Int, of slatefile: Slatefile, fallback: Int?, _ setFallback: (ModuleID) -> Void
    ) -> [Slatefile.Module] {
        let limit = (Slatefile.Limits.modules, "modules" as StaticString)
        let elements = elements(of: node, "an array of modules", limit: limit)
        guard nodes[node].kind == .array, elements.isEmpty == (nodes[node].next == node + 1) else {
            return []
        }
        var modules: [Slatefile.Module] = []
        modules.reserveCapacity(elements.count)
        var names = NameIndex(capacity: elements.count)
        var main: Int?
        var disabledMain: String?
        var needs = WrittenNeeds()
        for (position, element) in elements.enumerated() {
            var found = ModuleMembers()
            let module = module(element, &found, slatefile)
            needs.ids.append(found.id.flatMap { nodes[$0].kind == .string ? $0 : nil })
            needs.isEnabled.append(found.isEnabled)
            needs.needs += found.needs.map { WrittenNeeds.Need(module: position, node: $0) }
            if let id = found.id, nodes[id].kind == .string {
                if let earlier = names.insert(id, in: document), hasRoom {
                    let first = place(of: earlier)
                    report(
                        .repeatedID(document.writtenString(id), first: first), at: id)
                }
            }
            if let isMain = found.isMain {
                if !found.isEnabled {
                    // Its id may be of another type, which is another error.
                    let id = found.id.flatMap { nodes[$0].kind == .string ? $0 : nil }
                    disabledMain = disabledMain ?? id.map(document.writtenString) ?? "?"
                } else if let main {
                    let first = place(of: main)
                    report(.secondMain(first: first), at: isMain)
                } else {
                    main = isMain
                }
            }
            if let module {
                modules.append(module)
                if let instead = found.instead { insteadNodes.append((module.id, instead)) }
            }
        }
        if main == nil { report(.noMain(disabled: disabledMain), at: node - 1) }
        for (position, needed) in resolve(needs, in: names) {
            // Where a module is missing there are diagnostics, and no slatefile.
            if modules.count == elements.count { modules[position].needs = needed }
        }
        if let fallback { resolve(fallback, among: elements, setFallback) }
        areModulesValid = modules.count == elements.count
        return modules
    }

    private mutating func module(
        _ node: Int, _ found: inout ModuleMembers, _ slatefile: Slatefile
    ) -> Slatefile.Module? {
        var module = Slatefile.Module(
            id: ModuleID(checked: ""), implementation: .command([]), value: value(node))
        var id: ModuleID?
        members(of: node, as: ModuleKey.self, "a module: an object") { reader, key, node in
            switch key {
            case .id:
                found.id = node
                id = reader.moduleID(node)
            case .entry: found.entry = node
            case .command: found.command = node
            case .enabled:
                found.isEnabled = reader.bool(node) ?? true
                module.isEnabled = found.isEnabled
            case .required: module.isRequired = reader.bool(node) ?? false
            case .retry: module.isRetried = reader.bool(node) ?? false
            case .ends:
                found.ends = node
                module.ends = reader.bool(node) ?? false
            case .replace:
                found.replace = node
                module.replacement =
                    reader.word(node, as: Slatefile.Replacement.self) ?? module.replacement
            case .main:
                module.isMain = reader.bool(node) ?? false
                if module.isMain { found.isMain = node }
            case .needs: found.needs = reader.needs(node)
            case .launch:
                module.launch =
                    reader.word(node, as: Slatefile.LaunchTime.self) ?? module.launch
            case .idle:
                found.idle = node
                module.idle = reader.duration(node)
            case .provides: found.demands.provides = node
            case .events: found.demands.events = node
            case .topics: found.demands.topics = node
            case .instead:
                found.instead = node
                module.instead = reader.instead(node)
            case .deadline:
                found.deadline = node
                module.deadline = reader.duration(node)
            case .killAfter:
                found.killAfter = node
                module.killAfter = reader.duration(node)
            case .isolation: module.isolation = reader.word(node, as: Slatefile.Isolation.self)
            case .env: module.environment = reader.variableNames(node)
            case .may:
                found.may = node
                module.permissions = reader.permissions(node)
            case .backlog:
                module.backlog =
                    reader.integer(node, in: Slatefile.Limits.backlog) ?? module.backlog
            case .keep:
                module.keep = reader.size(node, in: Slatefile.Limits.keep) ?? module.keep
            case .logLevel: module.logLevel = reader.word(node, as: LogLevel.self)
            case .config: module.config = reader.config(node)
            case .git: found.source.git = node
            case .branch: found.source.branch = node
            case .tag: found.source.tag = node
            case .path: found.source.path = node
            case .product:
                found.product = node
                module.product = reader.product(node)
            }
        }
        guard nodes[node].kind == .object else { return nil }
        if let part, let id { apply(part, to: &module, id, &found) }
        if let killAfter = module.killAfter, let place = found.killAfter {
            // Beside a deadline that is not valid, which is reported, there is nothing to compare with.
            let deadline =
                found.deadline == nil
                ? (isEventDeadlineValid ? slatefile.deadlines.event : nil) : module.deadline
            if let deadline, killAfter < deadline {
                report(.killAfterTooShort(killAfter: killAfter, deadline: deadline), at: place)
            }
        }
        if let may = found.may, !mayHaveProcess(module, found, slatefile) {
            report(.permissionsInside, at: may - 1)
        }
        if module.ends { checkEnd(of: module, found, at: node) }
        checkLaunch(of: module, module.ends ? nil : found.idle, at: node)
        if module.isMain, module.replacement == .stopFirst, let place = found.replace {
            report(
                .lazy(
                    "the app cannot be without its main module, so that is replaced start-first; remove \"replace\""
                ), at: place)
        }
        module.declared = declaration(found.demands, isCommand: found.command != nil)
        module.source = source(found.source, of: "a module")
        if found.command != nil, let product = found.product {
            report(.source("'product' is for an 'entry': a command is not built"), at: product - 1)
        }
        let implementation = implementation(
            node, found, module, id: id, appConfig: slatefile.config)
        guard let id, let implementation else { return nil }
        module.id = id
        module.implementation = implementation
        return module
    }

    /// Lets a module be one of a part of the slatefile: only the main one of the part is main.
    private func apply(
        _ part: SlatefilePart, to module: inout Slatefile.Module, _ id: ModuleID,
        _ found: inout ModuleMembers
    ) {
        module.isLeftOut = !part.modules.contains(id.text)
        if module.isLeftOut { (module.isEnabled, found.isEnabled) = (false, false) }
        module.isMain = part.main == id.text
        found.isMain = module.isMain ? found.id : nil
    }

    // MARK: Implementation

    private mutating func implementation(
        _ node: Int, _ found: ModuleMembers, _ module: Slatefile.Module, id: ModuleID?,
        appConfig: JSONValue?
    ) -> Slatefile.Implementation? {
        switch (found.entry, found.command) {
        case (let entry?, nil):
            guard let name = self.entry(entry) else { return nil }
            if found.isEnabled, hasRoom, let checkEntry {
                // In a part any module may be main: where it has no root, none is opened.
                let use = EntryUse(
                    module: id, entry: name, isMain: module.isMain && part == nil,
                    isLazy: module.launch == .lazy,
                    hasSource: (found.source.git ?? found.source.path) != nil,
                    isolation: module.isolation,
                    config: module.config, appConfig: appConfig)
                for diagnostic in checkEntry(use) {
                    switch diagnostic {
                    case .entry(let reason): report(.entry(reason), at: entry)
                    case .config(let error): report(error)
                    case .uses(let check): uses.append((entry, check))
                    }
                }
            }
            return .entry(name)
        case (nil, let command?):
            if module.isolation == Slatefile.Isolation.none { report(.commandInside, at: command) }
            let words = self.command(command)
            return words.isEmpty ? nil : .command(words)
        case (let entry?, let command?):
            _ = self.entry(entry)
            _ = self.command(command)
            report(.entryAndCommand, at: max(entry, command) - 1)
        case (nil, nil):
            report(.noImplementation, at: node)
        }
        return nil
    }

    /// The regular expression of the JSON Schema for an entry.
    static let entryPattern = "^[A-Za-z_][A-Za-z0-9_]*\\.[A-Za-z_][A-Za-z0-9_]*$"

    private mutating func entry(_ node: Int) -> String? {
        if var lastEntry, nodes[node].kind == .string,
            lastEntry.withUTF8({ document.string(node, equals: $0) })
        {
            return lastEntry
        }
        guard let text = string(node, "an entry such as \"Modules.PushModule\"") else { return nil }
        if Self.isEntry(document.stringBytes(node)) {
            lastEntry = text
            return text
        }
        // A check that knows the classes may know which one is meant.
        let use = EntryUse(entry: text, isMain: false, config: nil, appConfig: nil)
        if hasRoom, case .entry(let reason)? = checkEntry?(use).first {
            report(.entry(reason), at: node)
        } else {
            report(.malformedEntry(text), at: node)
        }
        return nil
    }

    /// Returns whether the text is two identifiers with a dot between them.
    private static func isEntry(_ text: ArraySlice<UInt8>) -> Bool {
        var isStart = true
        var dots = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "_"):
                isStart = false
            case UInt8(ascii: "0")...UInt8(ascii: "9") where !isStart: break
            case UInt8(ascii: ".") where !isStart:
                isStart = true
                dots += 1
            default: return false
            }
        }
        return dots == 1 && !isStart
    }

    private mutating func command(_ node: Int) -> [String] {
        let limit = (Slatefile.Limits.list, "words in a command" as StaticString)
        let before = diagnostics.count
        let words = elements(of: node, "a command: an array of strings", limit: limit)
        if words.isEmpty, diagnostics.count == before { report(.empty("a command"), at: node) }
        return words.compactMap { word in
            // Only the program must have a name; an argument may be empty.
            word == words.first ? nonEmptyString(word, "the name of a program") : string(word)
        }
    }

    private mutating func variableNames(_ node: Int) -> [String] {
        guard nodes[node].kind != .object else {
            report(.variableValues, at: node)
            return []
        }
        let limit = (Slatefile.Limits.list, "environment variables" as StaticString)
        return elements(of: node, "an array of names", limit: limit).compactMap { element in
            guard let name = string(element, "the name of an environment variable") else {
                return nil
            }
            if ConfigExpansion.isVariableName(name.utf8) { return name }
            report(.variableName(name), at: element)
            return nil
        }
    }

    /// Returns the words, and reports each repeated one.
    private mutating func permissions(_ node: Int) -> Set<Slatefile.Permission> {
        let limit = (Slatefile.Limits.list, "permissions" as StaticString)
        let elements = elements(of: node, "an array such as [\"state\"]", limit: limit)
        var permissions: Set<Slatefile.Permission> = []
        for element in elements {
            guard let permission = word(element, as: Slatefile.Permission.self) else { continue }
            if !permissions.insert(permission).inserted {
                report(.repeatedWord(permission.rawValue), at: element)
            }
        }
        return permissions
    }

    /// Returns whether the module runs in a process of its own, or will if hosts die while it runs.
    private func mayHaveProcess(
        _ module: Slatefile.Module, _ found: ModuleMembers, _ slatefile: Slatefile
    ) -> Bool {
        switch module.isolation {
        case .process: true
        case .some(.none): found.command != nil
        case nil: found.command != nil || slatefile.isolation == .auto
        }
    }

    // MARK: Fallback

    private mutating func resolve(
        _ fallback: Int, among modules: [Int], _ setFallback: (ModuleID) -> Void
    ) {
        guard let id = moduleID(fallback) else { return }
        var ids: [String] = []
        for module in modules {
            guard nodes[module].kind == .object,
                let other = document.value(of: ModuleKey.id.rawValue, in: module),
                nodes[other].kind == .string
            else { continue }
            let text = document.writtenString(other)
            guard text.lowercased() == id.text.lowercased() else {
                ids.append(text)
                continue
            }
            if value(module)[ModuleKey.enabled.rawValue]?.bool == false {
                report(.disabledModule(id.text), at: fallback)
            }
            if let part, !part.modules.contains(text) { return }
            return setFallback(ModuleID(checked: text))
        }
        report(
            .unknownModule(id.text, nearest: nearestName(to: id.text, in: ids)), at: fallback)
    }
}
