/// The lazy modules of a slatefile, and the uses that make them, by what is used.
///
/// Modules are numbers here: their places among the enabled ones. Made once for a slatefile. A module costs two bytes
/// for each event that it receives, and for each topic that others have, too.
struct DemandTable: Sendable {
    /// Topics of one kind, sorted by their names.
    private struct Topics: Sendable {
        private var names: [String] = []
        /// By name: the end of its modules in `places`.
        private var ends: [UInt32] = []
        private var places: [UInt16] = []

        var isEmpty: Bool { names.isEmpty }

        init(_ topics: [(name: String, place: UInt16)] = []) {
            places.reserveCapacity(topics.count)
            for topic in topics.sorted(by: { ($0.name, $0.place) < ($1.name, $1.place) }) {
                if names.last != topic.name {
                    names.append(topic.name)
                    ends.append(UInt32(places.count))
                }
                places.append(topic.place)
                ends[ends.count - 1] = UInt32(places.count)
            }
        }

        private func places(at index: Int) -> ArraySlice<UInt16> {
            places[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
        }

        /// Returns the modules with a topic of this name.
        func places(named name: String) -> ArraySlice<UInt16> {
            let index = names.partitioningIndex { $0 >= name }
            return index < names.count && names[index] == name ? places(at: index) : []
        }

        /// Returns the modules with a topic that has a wildcard and fits.
        func places(fitting name: String) -> [UInt16] {
            names.indices.filter { isTopic(name, wantedBy: names[$0]) }.flatMap(places)
        }
    }

    /// By event: the modules that receive it, in order.
    private var ofEvents: [EventKind: [UInt16]] = [:]
    private var topics = Topics()
    private var prefixes = Topics()
    private var services: [ObjectIdentifier: UInt16] = [:]
    /// By place: the index of its entry in the slatefile; empty where no module is lazy.
    private(set) var entries: [UInt16] = []
    /// By place: whether it is lazy; empty where no module is.
    private(set) var isLazy: [Bool] = []
    /// The places of the lazy modules that are commands, by their ids in lower case: a URL may spell one so.
    private(set) var commands: [String: [UInt16]] = [:]
    /// The modules that need each, in order.
    private(set) var dependents: [ModuleID: [ModuleID]] = [:]

    init() {}

    init(of slatefile: Slatefile) {
        dependents = slatefile.dependents
        guard slatefile.modules.contains(where: { $0.isEnabled && $0.isLazy }) else { return }
        var named: [(name: String, place: UInt16)] = []
        var fitting: [(name: String, place: UInt16)] = []
        entries.reserveCapacity(slatefile.modules.count)
        isLazy.reserveCapacity(slatefile.modules.count)
        for (index, module) in slatefile.modules.enumerated() where module.isEnabled {
            let place = UInt16(clamping: entries.count)
            entries.append(UInt16(clamping: index))
            isLazy.append(module.isLazy)
            guard module.isLazy else { continue }
            if case .command = module.implementation {
                commands[module.id.text.lowercased(), default: []].append(place)
            }
            let demands = ModuleDemands(of: module)
            for event in demands.events { ofEvents[event, default: []].append(place) }
            for topic in demands.topics {
                if topic.utf8.last == UInt8(ascii: "*") {
                    fitting.append((topic, place))
                } else {
                    named.append((topic, place))
                }
            }
            for service in demands.services {
                let key = ObjectIdentifier(service)
                if services[key] == nil { services[key] = place }
            }
        }
        (topics, prefixes) = (Topics(named), Topics(fitting))
    }

    /// Whether an event or a message can make a module.
    var listens: Bool { !ofEvents.isEmpty || !topics.isEmpty || !prefixes.isEmpty }

    /// Returns the modules that an event concerns, in order.
    func places(for event: LifecycleEvent) -> [Int] {
        if case .message(let message) = event.content {
            let others = prefixes.places(fitting: message.topic)
            let named = topics.places(named: message.topic)
            return others.isEmpty
                ? named.map(Int.init) : Set(named + others).map(Int.init).sorted()
        }
        return ofEvents[event.kind]?.map(Int.init) ?? []
    }

    /// Returns the module that declares a service.
    func place(of service: ObjectIdentifier) -> Int? { services[service].map(Int.init) }
}

extension Slatefile {
    /// The enabled modules that need each module, in order.
    var dependents: [ModuleID: [ModuleID]] {
        var dependents: [ModuleID: [ModuleID]] = [:]
        for module in modules where module.isEnabled {
            for need in module.needs { dependents[need, default: []].append(module.id) }
        }
        return dependents
    }
}
