import AppService
import Synchronization

/// A registry of services by protocol: a module provides one, others use it without knowing the module.
///
/// ```swift
/// protocol Accounts: Sendable { var current: String? { get } }
///
/// // In the module that has them:
/// try context.services.register((any Accounts).self) { StoredAccounts() }
/// // Anywhere else:
/// let accounts = try context.services.resolve((any Accounts).self)
/// ```
///
/// A service is passed from module to module, so it must be `Sendable`; one that is not is called inside its
/// module: ``call(_:_:)`` enters that module, as an event does.
///
/// - Thread: The lane. A request of an overdue module waits until the lane has served it.
/// - Life: A service is created at its first request. It is released with its module.
/// - Cost: One lookup in a table for a shared service that has been created.
public final class ServiceRegistry {
    /// The lifetime of the object that a provider creates.
    public enum Lifetime: Hashable, Sendable {
        /// Created once, at the first request, and passed to every caller.
        case shared
        /// Created for each request.
        case eachTime
    }

    let gate: Gate
    private let entries = TypeTable<AnyService>()
    /// The services of each module, by the number of its slot.
    private var ofModules: [UInt16: [AnyService]] = [:]
    /// The services that are being created, outermost first.
    ///
    /// All of them are on the stack of one thread; if that is stuck, the list is cleared.
    private var making: [AnyService] = []
    /// The changes of a reload that has not taken effect yet.
    private var transition: ServiceTransition? {
        didSet { isInTransition.store(transition != nil, ordering: .relaxed) }
    }
    /// Whether there is a transition, for a thread that may have lost the lane.
    private let isInTransition = Atomic(false)

    /// The largest number of services among which one with a similar name is searched, which limits the time that
    /// other modules wait.
    private static let nearestLimit = 256

    /// Whether this process has only one module: services of other modules are in other processes.
    private let isAlone: Bool
    /// The modules that declare services.
    private weak var modules: (any OnDemandModules)?

    init(gate: Gate, isAlone: Bool, modules: any OnDemandModules) {
        self.gate = gate
        self.isAlone = isAlone
        self.modules = modules
    }

    // MARK: Providing

    /// Provides a service.
    ///
    /// Register in `init`, so that every module finds it at launch.
    ///
    /// - Parameters:
    ///   - service: The protocol, as `(any Accounts).self`.
    ///   - lifetime: Whether it is created once or for each request.
    ///   - make: Creates it. Runs on the lane as code of the registering module.
    /// - Throws: ``ServiceError`` where another module provides it already. Before READY that ends the app, even if
    ///   the module handles the error: see ``provides(_:)`` for a service that may be there.
    public func register<Service>(
        _ service: Service.Type, lifetime: Lifetime = .shared,
        _ make: @escaping () throws -> Service
    ) throws {
        guard !isAlone else { throw ServiceError.ownProcess("\(service)") }
        guard let slot = callingSlot else { throw ServiceError.noModule }
        gate.lane.box?.noteServices(of: slot.number)
        let entry = ServiceEntry("\(service)", of: slot, lifetime: lifetime, make: make)
        guard let duplicate = gate.lane.asHost({ keepFirst(entry) }) else {
            throw ServiceError.stopped
        }
        if let duplicate { throw duplicate }
    }

    /// Provides a service for a module, wherever that runs.
    ///
    /// Host code.
    func provide<Service>(
        _ service: Service.Type, of slot: ModuleSlot, _ make: @escaping () throws -> Service
    ) {
        _ = keepFirst(ServiceEntry("\(service)", of: slot, lifetime: .shared, make: make))
    }

    /// Keeps a service, unless a module provides it already.
    private func keepFirst(_ entry: AnyService) -> ServiceError? {
        guard let first = find(entry.key, for: entry.slot) else {
            keep(entry)
            return nil
        }
        let error = ServiceError.duplicate(first.name, first: first.slot.id)
        modules?.noteDuplicate(by: entry.slot, error)
        return error
    }

    /// Withdraws a service of this module: from now on no module provides it, and it may be registered again.
    ///
    /// Modules that have resolved it keep what they have; ``resolve(_:)`` and ``call(_:_:)`` fail from now on.
    ///
    /// - Parameter service: The protocol, as `(any Accounts).self`.
    /// - Returns: Whether it was withdrawn: false where this module does not provide it.
    @discardableResult
    public func withdraw<Service>(_ service: Service.Type) -> Bool {
        guard let slot = callingSlot else { return false }
        // Released here and not on the lane as the host: its `deinit` is code of the module.
        let gone = gate.lane.asHost { take(ObjectIdentifier(service), of: slot) }
        return (gone ?? nil) != nil
    }

    /// Removes a service of a module.
    private func take(_ key: ObjectIdentifier, of slot: ModuleSlot) -> AnyService? {
        if let entry = transition?.staged.take(key, of: slot) { return entry }
        if let entry = transition?.leaving.take(key, of: slot) { return entry }
        guard let entry = entries.find(key), entry.slot === slot else { return nil }
        entries.set(nil, for: key)
        ofModules[slot.number]?.removeAll { $0 === entry }
        return entry
    }

    private func keep(_ entry: AnyService) {
        if entry.slot.isStaged.load(ordering: .relaxed) {
            transition?.staged.insert(entry)
        } else if transition?.leavingSlots.contains(ObjectIdentifier(entry.slot)) == true {
            transition?.leaving.insert(entry)
        } else {
            set(entry)
        }
    }

    /// Makes a service visible to all modules.
    private func set(_ entry: AnyService) {
        entries.set(entry, for: entry.key)
        ofModules[entry.slot.number, default: []].append(entry)
    }

    /// Removes the services of a module that are visible to all modules.
    private func takeSeen(of slot: ModuleSlot) -> [AnyService] {
        guard ofModules[slot.number]?.first?.slot === slot else { return [] }
        let gone = ofModules.removeValue(forKey: slot.number) ?? []
        for service in gone { entries.set(nil, for: service.key) }
        return gone
    }

    /// Returns the service that is visible to a module.
    private func find(_ key: ObjectIdentifier, for slot: ModuleSlot?) -> AnyService? {
        if let entry = entries.find(key) { return entry }
        guard let transition else { return nil }
        let isStaged = slot?.isStaged.load(ordering: .relaxed) == true
        return isStaged ? transition.staged[key] : transition.leaving[key]
    }

    /// Removes the services of a module.
    ///
    /// - Returns: The objects that own them, for the caller to release: their `deinit` is code of the module.
    func takeAll(of slot: ModuleSlot) -> [AnyObject] {
        takeSeen(of: slot) + (transition?.takeAll(of: slot) ?? [])
    }

    // MARK: Reloading

    /// Begins the transition: from now on modules that were created for a reload see their own services in
    /// place of those of modules that are about to be unloaded.
    func beginTransition(leaving slots: [ModuleSlot]) {
        var transition = ServiceTransition(leaving: slots)
        for slot in slots {
            for entry in takeSeen(of: slot) { transition.leaving.insert(entry) }
        }
        self.transition = transition
    }

    /// The error where a module that was created for the reload provides the same service as a module that
    /// stays.
    var transitionError: ServiceError? {
        transition?.staged.all.lazy
            .compactMap { [entries] in entries.find($0.key) }.first
            .map { .duplicate($0.name, first: $0.slot.id) }
    }

    /// Ends the transition, so that all modules see the same services again: those of the reload if it was
    /// committed, the former ones if it was rolled back.
    ///
    /// The services of the unloaded modules were removed before.
    func endTransition() {
        guard let transition else { return }
        self.transition = nil
        for entry in transition.leaving.all { set(entry) }
        for entry in transition.staged.all { set(entry) }
    }

    // MARK: Using

    /// Returns the service that a module provides.
    ///
    /// - Parameter service: The protocol, as `(any Accounts).self`.
    /// - Returns: The service.
    /// - Throws: ``ServiceError`` if no module provides it, its module is overdue, or it needs itself to be
    ///   created; else the error of its provider.
    @inlinable
    public func resolve<Service: Sendable>(_ service: Service.Type) throws -> Service {
        guard let made = made(ObjectIdentifier(service)) else { return try makeNow(service) }
        return unsafeDowncast(made, to: MadeService<Service>.self).value
    }

    /// Returns the shared service, a ``MadeService``, if it is created already.
    ///
    /// Not inlined: only where all code that accesses a property is in one module does the compiler find that no
    /// two accesses overlap. In the modules of an app, each access would be checked when it is made.
    @usableFromInline
    func made(_ key: ObjectIdentifier) -> AnyObject? {
        gate.lane.wordInHand?._withUnsafeGuaranteedRef { made(key, by: $0) }
    }

    @inline(__always)
    private func made(_ key: ObjectIdentifier, by word: OwnershipWord) -> AnyObject? {
        let module = OwnershipWord.own(at: word.address)
        // As the host, since the table belongs to the lane.
        guard module.slot != 0, word.move(to: module.inHost) else { return nil }
        let made = entries.findUncounted(key)?._withUnsafeGuaranteedRef { $0.made }
        // While the host is current, the lane cannot be taken over.
        _ = word.move(to: module.inHost.resumed(by: module.slot))
        return made
    }

    @usableFromInline
    func makeNow<Service>(_ service: Service.Type) throws -> Service {
        try onLane { try value(of: entry(of: service)) }
    }

    /// Calls a service inside its module.
    ///
    /// - Parameters:
    ///   - service: The protocol, as `(any Feed).self`.
    ///   - body: Uses the service, as code of its module. It captures values and returns values.
    /// - Returns: The result of `body`.
    /// - Throws: ``ServiceError`` as for ``resolve(_:)``; else the error of the provider or of `body`.
    public func call<Service, Result: Sendable>(
        _ service: Service.Type, _ body: @Sendable (Service) throws -> Result
    ) throws -> Result {
        try onLane {
            let entry = try entry(of: service)
            let value = try value(of: entry)
            return try enter(entry) { try body(value) }
        }
    }

    /// Returns whether a module provides the service.
    public func provides<Service>(_ service: Service.Type) -> Bool {
        let slot = viewingSlot
        let key = ObjectIdentifier(service)
        return gate.lane.asHost {
            find(key, for: slot) != nil || modules?.declares(key) == true
        } ?? false
    }

    /// Returns whether a service of a module was asked for, so that other modules may have it.
    func isUsed(of slot: ModuleSlot) -> Bool {
        ofModules[slot.number]?.contains { $0.slot === slot && ($0.made != nil || $0.wasMade) }
            ?? false
    }

    private func entry<Service>(
        of service: Service.Type, isRepeated: Bool = false
    ) throws -> ServiceEntry<Service> {
        let slot = viewingSlot
        let key = ObjectIdentifier(service)
        guard let entry = try asHost({ find(key, for: slot) }) else {
            if !isRepeated, let modules, let thread = gate.lane.hold,
                try modules.makeProvider(of: key, on: thread)
            {
                return try self.entry(of: service, isRepeated: true)
            }
            let name = "\(service)"
            if isAlone { throw ServiceError.otherProcess(name) }
            if let absence = try asHost({ modules?.absence(of: key, name, for: slot) }) {
                throw absence
            }
            let others = try asHost {
                entries.count <= Self.nearestLimit ? entries.values.map(\.name).sorted() : []
            }
            throw ServiceError.notProvided(name, nearest: nearestName(to: name, in: others))
        }
        return unsafeDowncast(entry, to: ServiceEntry<Service>.self)
    }

    /// Clears the services that a thread was creating when it lost the lane.
    func forgetMaking() { making = [] }

    // MARK: The lane

    /// Returns the service: the shared one, created if necessary, or a new one.
    private func value<Service>(of entry: ServiceEntry<Service>) throws -> Service {
        let (made, cycle) = try asHost { () -> (AnyObject?, [String]?) in
            if let made = entry.made { return (made, nil) }
            if let index = making.firstIndex(where: { $0 === entry }) {
                return (nil, making[index...].map(\.name) + [entry.name])
            }
            making.append(entry)
            return (nil, nil)
        }
        if let made { return unsafeDowncast(made, to: MadeService<Service>.self).value }
        if let cycle { throw ServiceError.cycle(cycle) }
        let value: Service
        do {
            value = try enter(entry, entry.make)
        } catch {
            // Where the lane is lost, the thread that goes on clears `making`.
            _ = try? asHost { making.removeLast() }
            throw error
        }
        let shared = entry.lifetime == .shared ? MadeService(value) : nil
        try asHost {
            making.removeLast()
            (entry.made, entry.wasMade) = (shared, true)
        }
        return value
    }

    private func enter<Result>(_ entry: AnyService, _ body: () throws -> Result) throws -> Result {
        guard let thread = gate.lane.hold else { throw LaneLost() }
        var admission: Lane.Admission?
        var result: Result?
        let outcome = gate.call(on: thread) {
            admission = gate.lane.admit(entry.slot, at: nil)
            return admission == .go ? (entry.slot.number, ()) : nil
        } body: { _ in
            result = try body()
        }
        switch (outcome, admission) {
        case (.returned, .overdue): throw ServiceError.overdue(entry.name, entry.slot.id)
        case (.threw(let error), _): throw error
        case (.tooDeep, _): throw ServiceError.tooDeep(entry.name)
        case (.lost, .go), (.threwOverdue, .go): throw ServiceError.lost(entry.name, entry.slot.id)
        // The service was not called.
        case (.lost, _), (.threwOverdue, _): throw LaneLost()
        case (.returned, _):
            guard let result else { throw ServiceError.notProvided(entry.name, nearest: nil) }
            return result
        }
    }

    /// The calling module.
    private var callingSlot: ModuleSlot? {
        let lane = gate.lane
        if let thread = lane.hold { return lane.slot(thread.ownership.slot) }
        return lane.overdueSlot
    }

    /// The calling module, where the result depends on it.
    private var viewingSlot: ModuleSlot? {
        isInTransition.load(ordering: .relaxed) ? callingSlot : nil
    }

    /// Runs host code that accesses the state of the lane, and calls no module.
    private func asHost<Result>(_ body: () -> Result) throws -> Result {
        guard let thread = gate.lane.hold, let result = gate.lane.asHost(on: thread, body) else {
            throw LaneLost()
        }
        return result
    }

    /// Runs `body` at once on the lane, else when the lane serves it.
    private func onLane<Result>(_ body: () throws -> Result) throws -> Result {
        let lane = gate.lane
        if let thread = lane.hold {
            guard thread.ownership.slot != 0 else { throw ServiceError.noModule }
            do { return try body() } catch is LaneLost {}
        }
        guard lane.overdueSlot != nil else { throw ServiceError.noModule }
        let served = lane.serve { _ in Swift.Result { try body() } }
        guard let served else { throw ServiceError.stopped }
        return try served.get()
    }
}
