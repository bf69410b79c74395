public import Synchronization

/// The next step of a fan-out after a responder has returned.
@usableFromInline
enum FanStep {
    case next, end
}

/// The end of a fan-out.
@usableFromInline
enum FanEnd: Equatable {
    /// It went round, or was ended by a step.
    case finished
    /// The lane was lost. These modules were not called; all others were, or will be by another thread.
    /// Nil if no module was called yet.
    ///
    /// By name: the order may have changed when another thread goes on.
    case lost(rest: Set<ModuleID>?)
    /// No responder was called: calls are nested 64 deep already.
    case tooDeep
}

extension Gate {
    /// Tells every responder of a list, in order.
    ///
    /// The common case costs one compare-exchange a delivery: no lock, no clock, no allocation. Only
    /// when the epoch has changed is an entry's cell looked at.
    ///
    /// - Parameters:
    ///   - list: Whom to tell; looked up while the lane is ours for sure. Members that come during the fan-out are not told, those that go are
    ///     not told any more.
    ///   - thread: The calling thread, which owns the lane.
    ///   - rank: The rank after which to begin; 0 for the first.
    ///   - position: The position of the event, or nil for what does not wait for late modules.
    ///   - late: Called for a module that is late, instead of telling it.
    ///   - failure: Called with what a responder threw, in words, while the lane is still ours.
    ///   - alone: Tells one more responder, by its index, of the module that held the lane up, on its
    ///     own thread.
    ///     Nothing that is the lane's may be touched there.
    ///   - body: Tells one responder, by its index: an entry taken out of its array would be counted
    ///     in and out, part by part, for each delivery.
    /// - Returns: Whether the lane is still ours, and if not, how far it went.
    @inlinable @inline(__always)
    func fanOut<Responder>(
        to list: @autoclosure () -> ResponderList<Responder>, on thread: LaneThread,
        after rank: UInt16 = 0,
        at position: UInt64? = nil, late: (Cell) -> FanStep,
        failure: (Cell, any Error) -> FanStep,
        alone: (ResponderList<Responder>.Entries, Int) throws -> Void,
        _ body: (ResponderList<Responder>.Entries, Int, inout Passage) throws -> FanStep
    ) -> FanEnd {
        guard var passage = Passage(lane: lane, thread: thread) else { return .tooDeep }
        // The list is the lane's.
        guard passage.settle() else { return .lost(rest: nil) }
        let list = list()
        list.refresh(epoch: lane.epoch.load(ordering: .acquiring))
        let entries = list.entries
        let ordered = list.orderedAt ?? .max
        var index = list.firstIndex(after: rank)
        rounds: while index < entries.count {
            if lane.epoch.load(ordering: .relaxed) != ordered {
                // What follows counts and changes what is the lane's.
                guard passage.settle() else { break rounds }
                switch admit(entries[index].cell, entries[index].member, at: position) {
                case .go: break
                case .skip:
                    index += 1
                    continue rounds
                case .late:
                    index = late(entries[index].cell) == .end ? entries.count : index + 1
                    continue rounds
                }
            }
            let outcome = enter(entries[index].cell.number, through: &passage) { passage in
                try describing { try body(entries, index, &passage) }
            }
            switch outcome {
            case .returned(.next): index += 1
            case .returned(.end): index = entries.count
            case .threw(let error):
                index = failure(entries[index].cell, error) == .end ? entries.count : index + 1
            case .lost: break rounds
            case .threwLate(let error):
                reportLate(entries[index].cell, error)
                index += 1
                break rounds
            case .tooDeep: return .tooDeep
            }
        }
        return passage.leave() ? .finished : finish(entries, from: index, passage, alone)
    }

    /// Goes on, on a thread that lost the lane, with the entries of the module that held it up: a
    /// module's own members are entered by one thread at a time, too.
    @usableFromInline
    func finish<Responder>(
        _ entries: ResponderList<Responder>.Entries, from start: Int,
        _ passage: borrowing Passage,
        _ alone: (ResponderList<Responder>.Entries, Int) throws -> Void
    ) -> FanEnd {
        let late = passage.inside == 0 ? passage.outer : passage.inside
        var index = start
        while index < entries.count, entries[index].cell.number == late {
            defer { index += 1 }
            let entry = entries[index]
            if entry.member.isRemoved { continue }
            do { try alone(entries, index) } catch { reportLate(entry.cell, error) }
        }
        passage.giveUp()
        return .lost(rest: Set(entries[index...].compactMap(\.cell.id)))
    }

    @usableFromInline
    func admit(_ cell: Cell, _ member: Member, at position: UInt64?) -> Lane.Admission {
        member.isRemoved ? .skip : lane.admit(cell, at: position)
    }
}
