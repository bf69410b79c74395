public import Synchronization

/// The next step of a fan-out after a responder has returned.
@usableFromInline
enum FanStep {
    case next, end
}

/// The end of a fan-out.
@usableFromInline
enum FanEnd: Equatable {
    /// All responders were called, or a step ended the fan-out.
    case finished
    /// The lane was lost. These modules were not called; all others were, or will be by another thread. Nil
    /// if no module was called yet.
    ///
    /// By id: the order may have changed when another thread goes on.
    case lost(rest: Set<ModuleID>?)
    /// No responder was called: calls are nested 64 deep already.
    case tooDeep
}

extension Gate {
    /// Calls every responder of a list, in order.
    ///
    /// The common case costs a store and a load a delivery: no exchange, no lock, no clock, no allocation. Only when the
    /// epoch has changed is the slot of an entry read.
    ///
    /// - Parameters:
    ///   - list: The responders; looked up while the calling thread certainly owns the lane. Members that are
    ///     added during the fan-out are not called, and those that are removed are no longer called.
    ///   - thread: The calling thread, which owns the lane.
    ///   - rank: The rank after which to begin; 0 for the first.
    ///   - position: The position of the event, or nil for calls that do not wait for overdue modules.
    ///   - overdue: Called for a responder of a module that is behind, in place of `body`: the event waits for it.
    ///   - failure: Called with the error of a responder, in words, while the thread still owns the lane.
    ///   - alone: Calls one more responder, by its index, of the module that kept the lane, on its own
    ///     thread. Must not access the state of the lane.
    ///   - body: Calls one responder, by its index: taking an entry out of its array would count its
    ///     references for each delivery.
    /// - Returns: Whether the thread still owns the lane, and if not, how far the fan-out went.
    @inlinable @inline(__always)
    func fanOut<Responder>(
        to list: @autoclosure () -> ResponderList<Responder>, on thread: LaneThread,
        after rank: UInt16 = 0,
        at position: UInt64? = nil,
        overdue: (ResponderList<Responder>.Entries, Int) -> FanStep,
        failure: (ModuleSlot, any Error) -> FanStep,
        alone: (ResponderList<Responder>.Entries, Int) throws -> Void,
        _ body: (ResponderList<Responder>.Entries, Int, inout GateEntry) throws -> FanStep
    ) -> FanEnd {
        guard var entry = GateEntry(thread: thread) else { return .tooDeep }
        // The list belongs to the lane.
        guard entry.settle() else { return .lost(rest: nil) }
        let (entries, ordered) = list().current(at: lane.epoch.load(ordering: .acquiring))
        var index = ResponderList.firstIndex(after: rank, in: entries)
        rounds: while index < entries.count {
            if lane.epoch.load(ordering: .relaxed) != ordered {
                // The code below reads and changes state of the lane.
                guard entry.settle() else { break rounds }
                switch admit(entries[index].slot, entries[index].member, at: position) {
                case .go: break
                case .skip:
                    index += 1
                    continue rounds
                case .overdue:
                    index = overdue(entries, index) == .end ? entries.count : index + 1
                    continue rounds
                }
            }
            let outcome = enter(entries[index].number, through: &entry) { entry in
                try describing { try body(entries, index, &entry) }
            }
            switch outcome {
            case .returned(.next): index += 1
            case .returned(.end): index = entries.count
            case .threw(let error):
                index = failure(entries[index].slot, error) == .end ? entries.count : index + 1
            case .lost: break rounds
            case .threwOverdue(let error):
                reportOverdue(entries[index].slot, error)
                index += 1
                break rounds
            case .tooDeep: return .tooDeep
            }
        }
        return entry.leave() ? .finished : finish(entries, from: index, entry, alone)
    }

    /// Continues, on a thread that lost the lane, with the entries of the module that kept it: a module's own
    /// members are entered by one thread at a time, too.
    @usableFromInline
    func finish<Responder>(
        _ entries: ResponderList<Responder>.Entries, from start: Int,
        _ entry: borrowing GateEntry,
        _ alone: (ResponderList<Responder>.Entries, Int) throws -> Void
    ) -> FanEnd {
        let overdue = entry.inside == 0 ? entry.outer : entry.inside
        var index = start
        while index < entries.count, entries[index].number == overdue {
            defer { index += 1 }
            let entry = entries[index]
            if entry.member.isRemoved { continue }
            do { try alone(entries, index) } catch { reportOverdue(entry.slot, error) }
        }
        entry.giveUp()
        return .lost(rest: Set(entries[index...].compactMap(\.slot.id)))
    }

    @usableFromInline
    func admit(_ slot: ModuleSlot, _ member: Member, at position: UInt64?) -> Lane.Admission {
        member.isRemoved ? .skip : lane.admit(slot, at: position)
    }
}
