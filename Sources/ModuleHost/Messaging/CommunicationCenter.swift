import Synchronization

/// A center that sends a message to every member that conforms to its protocol.
///
/// A message is a call: a closure run with each member that conforms to a responder protocol, in order. Any
/// protocol is possible.
///
/// ```swift
/// protocol SignInResponder { func didSignIn(name: String) }
///
/// context.center.send(to: (any SignInResponder).self) { $0.didSignIn(name: "mia") }
/// ```
///
/// The host has a center whose members are the app's modules in slatefile order; lifecycle events are
/// delivered the same way. Any code can create another center for members of its own.
///
/// - Order: The host's center: slatefile order, and within a module the order of ``add(_:)``. A center of
///   one's own: the order of ``add(_:)``.
/// - Thread: A center belongs to its owner and is not `Sendable`; the host's belongs to the lane. A module
///   that is overdue and sends waits until the lane has served it.
/// - Changes: Members may be added and removed, and messages be sent, from inside a handler. A new member
///   receives messages from the next one on; a removed one receives nothing more at once.
/// - Failure: An error of a member is reported, and the other members still receive the message.
/// - Limits: Sending nests 64 deep; deeper messages are refused.
public final class CommunicationCenter {
    /// The way into modules; nil for a center with an owner of its own, whose members are the owner's code.
    @usableFromInline let gate: Gate?
    /// The members in the order of their ranks, so that those of one module stand next to each other.
    private var members: [Member] = []
    /// The members of modules that were created for a reload, by the numbers of their slots: nothing is sent
    /// to them yet.
    private var staged: [UInt16: [Member]] = [:]
    private var known: [ObjectIdentifier: Member] = [:]
    let lists = TypeTable<AnyResponderList>()
    private var sequence = 0
    /// The slot of every member of a center with an owner of its own.
    private let ownSlot = ModuleSlot(number: 0, id: nil)
    /// A number that changes with each removed member; the lane's epoch does that for the host's center.
    @usableFromInline var ownEpoch: UInt64 = 0
    @usableFromInline var ownDepth = 0
    @usableFromInline let onFailure: (AnyObject, any Error) -> Void

    /// Creates a center for members of one's own.
    ///
    /// - Parameter onFailure: Receives each member that threw, and the error, for example for a log; without
    ///   it a failure shows in the ``DeliveryReport`` alone.
    public init(onFailure: @escaping (AnyObject, any Error) -> Void = { _, _ in }) {
        gate = nil
        self.onFailure = onFailure
    }

    /// Creates the host's center.
    init(gate: Gate) {
        self.gate = gate
        onFailure = { _, _ in }
    }

    // MARK: Members

    /// Adds a member, after the existing ones.
    ///
    /// In the host's center it takes its place beside the module that adds it, and receives the messages that
    /// the module receives: it is part of that module. Adding a member again has no effect.
    ///
    /// - Parameter member: Any object. The center keeps it until it is removed.
    public func add(_ member: AnyObject) {
        guard let lane = gate?.lane else { return insert(member, in: ownSlot) }
        if let thread = lane.hold {
            guard let slot = lane.slot(thread.ownership.slot) else { return }
            if lane.asHost(on: thread, { insert(member, in: slot) }) != nil { return }
        }
        if let slot = lane.overdueSlot { _ = lane.serve { _ in insert(member, in: slot) } }
    }

    /// Removes a member.
    ///
    /// The member receives nothing more, not even a message that is being sent.
    ///
    /// - Parameter member: The object. An object that is not a member is ignored.
    public func remove(_ member: AnyObject) {
        guard let lane = gate?.lane else { return take(member) }
        _ = lane.asHost { take(member) }
    }

    /// The number of members.
    public var count: Int {
        guard let lane = gate?.lane else { return members.count }
        return lane.asHost { members.count } ?? 0
    }

    // A module itself stands before the members that it has added, also in `init`.
    func insert(
        _ object: AnyObject, in slot: ModuleSlot, isModule: Bool = false,
        taker: (any EventTaker)? = nil
    ) {
        let key = ObjectIdentifier(object)
        guard slot.status.load(ordering: .relaxed) != .unlisted, known[key] == nil else { return }
        sequence += 1
        let member = Member(
            object: object, slot: slot, sequence: isModule ? 0 : sequence, taker: taker)
        known[key] = member
        slot.membersAdded.add(1, ordering: .releasing)
        guard !slot.isStaged.load(ordering: .relaxed) else {
            staged[slot.number, default: []].insert(member, at: isModule ? 0 : stagedCount(slot))
            return
        }
        list(member)
    }

    private func stagedCount(_ slot: ModuleSlot) -> Int { staged[slot.number]?.count ?? 0 }

    /// Returns the range of the members of a module.
    private func range(of slot: ModuleSlot) -> Range<Int> {
        let start = members.partitioningIndex { $0.slot.rank >= slot.rank }
        return start..<members[start...].partitioningIndex { $0.slot.rank > slot.rank }
    }

    /// Returns the members of a module, the module itself first.
    func members(of slot: ModuleSlot) -> [Member] {
        let staged = staged[slot.number] ?? []
        // A staged module may have the same rank as a module that is still loaded.
        return members[range(of: slot)].filter { $0.slot === slot }
            + staged.filter { $0.slot === slot }
    }

    func take(_ object: AnyObject) {
        // Kept until everything is done: a member may use the center in its `deinit`.
        guard let member = known.removeValue(forKey: ObjectIdentifier(object)) else { return }
        // A message that is being sent uses its own list, and checks this flag.
        member.markRemoved()
        staged[member.slot.number]?.removeAll { $0 === member }
        let index = members.partitioningIndex { !$0.precedes(member) }
        guard index < members.count, members[index] === member else { return }
        members.remove(at: index)
        for list in lists.values { list.remove([member][...]) }
        bumpEpoch()
    }

    /// Removes every member of a module.
    ///
    /// - Returns: The members, to be released when their module may be entered.
    func takeAll(of slot: ModuleSlot) -> [Member] {
        let gone = forget(slot)
        let range = range(of: slot)
        guard members[range].first?.slot === slot else { return gone }
        for list in lists.values { list.remove(members[range]) }
        members.removeSubrange(range)
        bumpEpoch()
        return gone
    }

    /// Removes every member of some modules, in one pass over all members.
    ///
    /// - Returns: The members by the numbers of their slots, to be released when their module may be entered.
    func takeAll(of slots: [ModuleSlot]) -> [UInt16: [Member]] {
        guard slots.count > 1 else {
            return slots.first.map { [$0.number: takeAll(of: $0)] } ?? [:]
        }
        var gone: [UInt16: [Member]] = [:]
        for slot in slots { gone[slot.number] = forget(slot) }
        members.removeAll(where: \.isRemoved)
        for list in lists.values { list.removeMarked() }
        bumpEpoch()
        return gone
    }

    /// Marks the members of a module as removed, and returns them.
    private func forget(_ slot: ModuleSlot) -> [Member] {
        let gone = members(of: slot)
        for member in gone {
            member.markRemoved()
            known[ObjectIdentifier(member.object)] = nil
        }
        if staged[slot.number]?.first?.slot === slot { staged[slot.number] = nil }
        return gone
    }

    /// Adds the members of modules that are no longer staged, and sorts all by their ranks.
    ///
    /// - Parameter isSorted: Whether the ranks of the others are the same as before.
    func reorder(keepingRanks isSorted: Bool) {
        var new: [Member] = []
        for (number, some) in staged {
            new += some.filter { !$0.slot.isStaged.load(ordering: .relaxed) }
            let rest = some.filter { $0.slot.isStaged.load(ordering: .relaxed) }
            staged[number] = rest.isEmpty ? nil : rest
        }
        // One by one where they are few: to sort takes longer than to move the others.
        if isSorted, new.count < 16 {
            for member in new { list(member) }
        } else {
            members = (members + new).sorted { $0.precedes($1) }
            for list in lists.values { list.reorder(adding: new) }
        }
        bumpEpoch()
    }

    private func list(_ member: Member) {
        members.insert(member, at: members.partitioningIndex { member.precedes($0) })
        for list in lists.values { list.insert(member) }
    }

    private func bumpEpoch() {
        if let gate {
            gate.lane.epoch.add(1, ordering: .releasing)
        } else {
            ownEpoch &+= 1
        }
    }

    // MARK: Sending

    /// Calls every member that conforms to `Responder`, in order.
    ///
    /// - Parameters:
    ///   - responder: The protocol, as `(any SignInResponder).self`.
    ///   - body: Calls one member. It is `@Sendable` so that it captures values, and passes no reference of
    ///     the sender into another module.
    /// - Returns: The numbers of members that received it, that failed, and that were overdue.
    @inlinable
    @discardableResult
    public func send<Responder>(
        to responder: Responder.Type, _ body: @Sendable (Responder) throws -> Void
    ) -> DeliveryReport {
        guard let gate else { return sendToOwn(list(of: responder), body) }
        guard let thread = gate.lane.hold else { return sendFromElsewhere(gate, body) }
        return send(through: gate, on: thread, body)
    }

    /// Returns the members that conform to `Responder`, looked up at the first message of that kind.
    @inlinable @inline(__always)
    func list<Responder>(of responder: Responder.Type) -> ResponderList<Responder> {
        guard let known = knownList(ObjectIdentifier(responder)) else { return makeList() }
        return unsafeDowncast(known, to: ResponderList<Responder>.self)
    }

    @usableFromInline
    func knownList(_ responder: ObjectIdentifier) -> AnyResponderList? { lists.find(responder) }

    @usableFromInline
    func makeList<Responder>() -> ResponderList<Responder> {
        let list = fill(ResponderList<Responder>())
        lists.set(list, for: ObjectIdentifier(Responder.self))
        return list
    }

    /// Adds the members to a list, all of them or those of some modules.
    func fill<Responder>(
        _ list: ResponderList<Responder>, where isMeant: (ModuleID?) -> Bool = { _ in true }
    ) -> ResponderList<Responder> {
        for member in members where isMeant(member.slot.id) { list.insert(member) }
        return list
    }

    @inlinable @inline(__always)
    func send<Responder>(
        through gate: Gate, on thread: LaneThread, to list: ResponderList<Responder>? = nil,
        _ body: @Sendable (Responder) throws -> Void
    ) -> DeliveryReport {
        var report = DeliveryReport()
        // The report belongs to the sender: it is kept also on a thread that has lost the lane.
        let end = gate.fanOut(
            to: list ?? self.list(of: Responder.self), on: thread,
            overdue: { _, _ in
                report.overdue += 1
                return .next
            },
            failure: { slot, error in
                gate.lane.reportFailure(of: slot, error)
                return .next
            },
            alone: { entries, index in
                try report.count { try body(entries[index].responder) }
            },
            { entries, index, _ in
                try report.count { try body(entries[index].responder) }
                return .next
            })
        switch end {
        case .finished: break
        case .tooDeep: report.refusal = .tooDeep
        case .lost(let rest): sendRest(rest, through: gate, body, &report)
        }
        return report
    }

    @inlinable @inline(__always)
    func sendToOwn<Responder>(
        _ list: ResponderList<Responder>, _ body: @Sendable (Responder) throws -> Void
    ) -> DeliveryReport {
        var report = DeliveryReport()
        guard ownDepth < CallDepth.maximum else {
            report.refusal = .tooDeep
            return report
        }
        ownDepth += 1
        defer { ownDepth -= 1 }
        let epoch = ownEpoch
        let entries = list.current(at: epoch).entries
        var index = 0
        while index < entries.count {
            if ownEpoch == epoch || !entries[index].member.isRemoved {
                do {
                    try body(entries[index].responder)
                    report.delivered += 1
                } catch {
                    report.failed += 1
                    onFailure(entries[index].member.object, error)
                }
            }
            index += 1
        }
        return report
    }
}
