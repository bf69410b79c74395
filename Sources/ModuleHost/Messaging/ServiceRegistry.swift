import AppService
import Synchronization

/// Services by protocol: a module provides one, others use it without knowing the module.
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
/// A service crosses from module to module, so it is `Sendable` and handed out, or it is not and is
/// called where it lives: ``call(_:_:)`` enters its module, as an event does.
///
/// - Thread: The lane. An overdue module that asks waits until the lane has answered.
/// - Life: A service is made when it is first asked for. It goes with its module.
/// - Cost: One look into a table for a shared service that has been made.
public final class ServiceRegistry {
    /// The lifetime of the object that a provider makes.
    public enum Lifetime: Hashable, Sendable {
        /// Made once, at the first request, and given to every caller.
        case shared
        /// Made for each request.
        case eachTime
    }

    @usableFromInline let gate: Gate
    @usableFromInline let entries = TypeTable<AnyService>()
    /// The services of each module, by the number of its slot.
    private var ofModules: [UInt16: [AnyService]] = [:]
    /// The services that are being made, outermost first.
    ///
    /// All of it stands on the stack of one thread; if that gets stuck, it is forgotten.
    private var making: [AnyService] = []
    /// The changes of a reload that has not taken effect yet.
    private var transition: Transition? {
        didSet { isInTransition.store(transition != nil, ordering: .relaxed) }
    }
    /// Says the same to a thread that may have lost the lane.
    private let isInTransition = Atomic(false)

    /// Services that are not the same before a reload and after it, by their type.
    private struct Transition {
        /// Those of modules that are about to go: all others use them until then.
        var leaving: [ObjectIdentifier: AnyService] = [:]
        let leavingSlots: Set<ObjectIdentifier>
        /// Those of modules that were made for the reload: these alone use them until then.
        var staged: [ObjectIdentifier: AnyService] = [:]
    }

    init(gate: Gate) { self.gate = gate }

    /// Whether the one module of this process is all there is: what others provide is in other processes.
    ///
    /// Set before any module is made.
    var isAlone = false

    // MARK: Providing

    /// Provides a service.
    ///
    /// Register in `init`, so that every module finds it at launch.
    ///
    /// - Parameters:
    ///   - service: The protocol, as `(any Accounts).self`.
    ///   - lifetime: Whether it is made once or for each request.
    ///   - make: Makes it. Runs on the lane as code of the module that registers.
    /// - Throws: ``ServiceError`` where another module provides it already.
    public func register<Service>(
        _ service: Service.Type, lifetime: Lifetime = .shared,
        _ make: @escaping () throws -> Service
    ) throws {
        guard !isAlone else { throw ServiceError.otherProcess("\(service)") }
        guard let slot = callingSlot else { throw ServiceError.noModule }
        let key = ObjectIdentifier(service)
        let entry = ServiceEntry("\(service)", of: slot, lifetime: lifetime, make: make)
        let first = gate.lane.asHost {
            let first = find(key, for: slot)
            if first == nil { keep(entry) }
            return first
        }
        guard let first else { throw ServiceError.stopped }
        if let first { throw ServiceError.duplicate(first.name, first: first.slot.id) }
    }

    private func keep(_ entry: AnyService) {
        if entry.slot.isStaged.load(ordering: .relaxed) {
            transition?.staged[entry.key] = entry
        } else if transition?.leavingSlots.contains(ObjectIdentifier(entry.slot)) == true {
            transition?.leaving[entry.key] = entry
        } else {
            set(entry)
        }
    }

    /// Makes a service visible to all modules.
    private func set(_ entry: AnyService) {
        entries.set(entry, for: entry.key)
        ofModules[entry.slot.number, default: []].append(entry)
    }

    /// Removes the services of a module that all modules see.
    private func takeSeen(of slot: ModuleSlot) -> [AnyService] {
        guard ofModules[slot.number]?.first?.slot === slot else { return [] }
        let gone = ofModules.removeValue(forKey: slot.number) ?? []
        for service in gone { entries.set(nil, for: service.key) }
        return gone
    }

    /// The service as a module sees it.
    private func find(_ key: ObjectIdentifier, for slot: ModuleSlot?) -> AnyService? {
        if let entry = entries.find(key) { return entry }
        guard let transition else { return nil }
        let isStaged = slot?.isStaged.load(ordering: .relaxed) == true
        return isStaged ? transition.staged[key] : transition.leaving[key]
    }

    /// Takes out the services of a module.
    ///
    /// - Returns: What held them, for the caller to release: their `deinit` is code of the module.
    func takeAll(of slot: ModuleSlot) -> [AnyObject] {
        let gone = takeSeen(of: slot)
        guard let transition else { return gone }
        // One that leaves and one that comes may provide the same.
        let (leaving, staged) = (transition.leaving.values, transition.staged.values)
        let isOfSlot = { (service: AnyService) in service.slot === slot }
        self.transition?.leaving = transition.leaving.filter { !isOfSlot($0.value) }
        self.transition?.staged = transition.staged.filter { !isOfSlot($0.value) }
        return gone + leaving.filter(isOfSlot) + staged.filter(isOfSlot)
    }

    // MARK: Reloading

    /// From now on modules that are made for a reload see their own services in the place of those of
    /// modules that are about to go.
    func beginTransition(leaving slots: [ModuleSlot]) {
        var transition = Transition(leavingSlots: Set(slots.map { ObjectIdentifier($0) }))
        for slot in slots {
            for entry in takeSeen(of: slot) { transition.leaving[entry.key] = entry }
        }
        self.transition = transition
    }

    /// A service of a module that was made for the reload and one of a module that stays are the same.
    var transitionFault: ServiceError? {
        transition?.staged.values.lazy
            .compactMap { [entries] in entries.find($0.key) }.first
            .map { .duplicate($0.name, first: $0.slot.id) }
    }

    /// All modules see the same again: the services of the reload where it holds, those before it where it
    /// does not.
    ///
    /// The services of the modules that go were taken out.
    func endTransition() {
        guard let transition else { return }
        self.transition = nil
        for entry in transition.leaving.values { set(entry) }
        for entry in transition.staged.values { set(entry) }
    }

    // MARK: Using

    /// The service that some module provides.
    ///
    /// - Parameter service: The protocol, as `(any Accounts).self`.
    /// - Returns: The service.
    /// - Throws: ``ServiceError`` if no module provides it, its module is overdue, or it needs itself to be
    ///   made; else what its provider threw.
    @inlinable
    public func resolve<Service: Sendable>(_ service: Service.Type) throws -> Service {
        try made(service)?.value ?? makeNow(service)
    }

    /// The shared service, where it is made already.
    @inlinable @inline(__always)
    func made<Service>(_ service: Service.Type) -> MadeService<Service>? {
        guard let word = gate.lane.wordInHand, word.mine.pointee.slot != 0 else { return nil }
        // As the host, since the table is the lane's.
        let module = word.mine.pointee
        guard word.exchange(for: module.inHost) else { return nil }
        let made = entries.findUncounted(ObjectIdentifier(service))?
            ._withUnsafeGuaranteedRef { $0.made }
        // The lane cannot be taken from the host.
        _ = word.exchange(for: module.inHost.resumed(by: module.slot))
        return made.map { unsafeDowncast($0, to: MadeService<Service>.self) }
    }

    @usableFromInline
    func makeNow<Service>(_ service: Service.Type) throws -> Service {
        try onLane { try value(of: entry(of: service)) }
    }

    /// Calls a service where it lives.
    ///
    /// - Parameters:
    ///   - service: The protocol, as `(any Feed).self`.
    ///   - body: Uses the service, as code of its module. It takes values along and brings values back.
    /// - Returns: What `body` returns.
    /// - Throws: ``ServiceError`` as for ``resolve(_:)``; else what the provider or `body` threw.
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
        return gate.lane.asHost { find(ObjectIdentifier(service), for: slot) != nil } ?? false
    }

    private func entry<Service>(of service: Service.Type) throws -> ServiceEntry<Service> {
        let slot = viewingSlot
        let (entry, others) = try asHost {
            let entry = find(ObjectIdentifier(service), for: slot)
            return (entry, entry == nil ? entries.values.map(\.name).sorted() : [])
        }
        guard let entry else {
            let name = "\(service)"
            if isAlone { throw ServiceError.otherProcess(name) }
            throw ServiceError.notProvided(name, nearest: nearestName(to: name, in: others))
        }
        return unsafeDowncast(entry, to: ServiceEntry<Service>.self)
    }

    /// Forgets what a thread was making that lost the lane.
    func forgetMaking() { making = [] }

    // MARK: The lane

    /// The service: the shared one, made if it was not yet, or a new one.
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
            // Where the lane is lost, `making` is forgotten by who goes on.
            _ = try? asHost { making.removeLast() }
            throw error
        }
        let shared = entry.lifetime == .shared ? MadeService(value) : nil
        try asHost {
            making.removeLast()
            entry.made = shared
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
        // It was not even tried.
        case (.lost, _), (.threwOverdue, _): throw LaneLost()
        case (.returned, _):
            guard let result else { throw ServiceError.notProvided(entry.name, nearest: nil) }
            return result
        }
    }

    /// The module that calls.
    private var callingSlot: ModuleSlot? {
        let lane = gate.lane
        if let thread = lane.hold { return lane.slot(thread.mine.slot) }
        return lane.overdueSlot
    }

    /// The module that calls, where it matters who it is.
    private var viewingSlot: ModuleSlot? {
        isInTransition.load(ordering: .relaxed) ? callingSlot : nil
    }

    /// Runs host code that touches what belongs to the lane, and calls no module.
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
            guard thread.mine.slot != 0 else { throw ServiceError.noModule }
            do { return try body() } catch is LaneLost {}
        }
        guard lane.overdueSlot != nil else { throw ServiceError.noModule }
        let served = lane.serve { _ in Swift.Result { try body() } }
        guard let served else { throw ServiceError.stopped }
        return try served.get()
    }
}

/// A service, whatever its type.
@usableFromInline
class AnyService {
    let name: String
    let key: ObjectIdentifier
    let slot: ModuleSlot
    /// The shared one, a ``MadeService``, once it is made.
    @usableFromInline final var made: AnyObject?

    fileprivate init(_ name: String, _ key: ObjectIdentifier, of slot: ModuleSlot) {
        self.name = name
        self.key = key
        self.slot = slot
    }
}

/// A shared service: an object, since an optional of a protocol's type is slow to hand on.
@usableFromInline
final class MadeService<Service> {
    @usableFromInline let value: Service

    init(_ value: Service) { self.value = value }
}

private final class ServiceEntry<Service>: AnyService {
    let lifetime: ServiceRegistry.Lifetime
    let make: () throws -> Service

    init(
        _ name: String, of slot: ModuleSlot, lifetime: ServiceRegistry.Lifetime,
        make: @escaping () throws -> Service
    ) {
        self.lifetime = lifetime
        self.make = make
        super.init(name, ObjectIdentifier(Service.self), of: slot)
    }
}
