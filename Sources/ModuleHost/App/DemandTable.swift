/// The uses that make the lazy modules of a slatefile, by what is used.
///
/// Modules are numbers here: their places among the enabled ones. Made once for a slatefile. A module costs two bytes,
/// and two for each topic that others have, too.
struct DemandTable {
    /// Topics of one kind, sorted by their names.
    private struct Topics {
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

    /// The events that make modules, each a bit of a mask.
    private static let events = EventKind.allCases.filter(Slatefile.declares)

    /// By place: the events that the module receives.
    private var masks: [UInt16] = []
    /// The events of all modules.
    private var allEvents: UInt16 = 0
    private var topics = Topics()
    private var prefixes = Topics()
    private var services: [ObjectIdentifier: UInt16] = [:]

    init() {}

    /// - Parameter slatefile: The slatefile, whose lazy modules are taken.
    init(of slatefile: Slatefile) {
        var named: [(name: String, place: UInt16)] = []
        var fitting: [(name: String, place: UInt16)] = []
        var place: UInt16 = 0
        masks = Array(repeating: 0, count: slatefile.modules.count(where: \.isEnabled))
        for module in slatefile.modules where module.isEnabled {
            defer { place += 1 }
            guard module.isLazy else { continue }
            let demands = ModuleDemands(of: module)
            for (bit, event) in Self.events.enumerated() where demands.events.contains(event) {
                masks[Int(place)] |= 1 << UInt16(bit)
            }
            allEvents |= masks[Int(place)]
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
    var listens: Bool { allEvents != 0 || !topics.isEmpty || !prefixes.isEmpty }

    /// Returns the modules that an event concerns, in order.
    func places(for event: LifecycleEvent) -> [Int] {
        if case .message(let message) = event.content {
            let others = prefixes.places(fitting: message.topic)
            let named = topics.places(named: message.topic)
            return others.isEmpty
                ? named.map(Int.init) : Set(named + others).map(Int.init).sorted()
        }
        guard let bit = Self.events.firstIndex(of: event.kind) else { return [] }
        let mask: UInt16 = 1 << UInt16(bit)
        guard allEvents & mask != 0 else { return [] }
        return masks.indices.filter { masks[$0] & mask != 0 }
    }

    /// Returns the module that declares a service.
    func place(of service: ObjectIdentifier) -> Int? { services[service].map(Int.init) }
}
