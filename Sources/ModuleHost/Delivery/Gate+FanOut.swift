public import Synchronization

/// What a fan-out does after a responder has returned.
@usableFromInline
enum FanStep {
    case next, end
}

/// How a fan-out ended.
@usableFromInline
enum FanEnd: Equatable {
    /// It went round, or was ended by a step.
    case finished
    /// The lane was lost; `next` is the index of the first entry that was not told, past what the
    /// module that held the lane up has of its own.
    case lost(next: Int)
    /// Nobody was told: calls are nested 64 deep already.
    case tooDeep
}

extension Gate {
    /// Tells every responder of a list, in order.
    ///
    /// The common case costs one compare-exchange a delivery: no lock, no clock, no allocation. Only
    /// when the epoch has changed is an entry's cell looked at.
    ///
    /// - Parameters:
    ///   - list: Whom to tell. Members that come during the fan-out are not told, those that go are
    ///     not told any more.
    ///   - thread: The calling thread, which owns the lane.
    ///   - start: The index to begin at.
    ///   - position: The position of the event, or nil for what does not wait for late modules.
    ///   - late: Called for a module that is late, instead of telling it.
    ///   - failure: Called with what a responder threw, while the lane is still ours.
    ///   - body: Tells one responder.
    /// - Returns: Whether the lane is still ours, and if not, how far it went.
    @inlinable @inline(__always)
    func fanOut<Responder>(
        to list: ResponderList<Responder>, on thread: LaneThread, from start: Int = 0,
        at position: UInt64? = nil, late: (Cell) -> FanStep,
        failure: (Cell, any Error) -> FanStep,
        _ body: (ResponderList<Responder>.Entry, inout Passage) throws -> FanStep
    ) -> FanEnd {
        list.refresh(epoch: lane.epoch.load(ordering: .acquiring))
        guard var passage = Passage(lane: lane, thread: thread) else { return .tooDeep }
        let entries = list.entries
        let ordered = list.orderedAt ?? .max
        var index = start
        rounds: while index < entries.count {
            if lane.epoch.load(ordering: .relaxed) != ordered {
                switch admit(entries[index].cell, entries[index].member, at: position) {
                case .go: break
                case .skip:
                    index += 1
                    continue rounds
                case .late:
                    if late(entries[index].cell) == .end { break rounds }
                    index += 1
                    continue rounds
                }
            }
            let outcome = enter(entries[index].cell.number, through: &passage) { passage in
                try body(entries[index], &passage)
            }
            switch outcome {
            case .returned(.next): index += 1
            case .returned(.end): break rounds
            case .threw(let error):
                if failure(entries[index].cell, error) == .end { break rounds }
                index += 1
            case .lost(let wasEntered):
                return finish(entries, from: wasEntered ? index + 1 : index, &passage, body)
            case .tooDeep: return .tooDeep
            }
        }
        return passage.leave() ? .finished : finish(entries, from: index, &passage, body)
    }

    /// Goes on, on a thread that lost the lane, with the entries of the module that held it up: a
    /// module's own members are entered by one thread at a time, too.
    @usableFromInline
    func finish<Responder>(
        _ entries: ContiguousArray<ResponderList<Responder>.Entry>, from start: Int,
        _ passage: inout Passage,
        _ body: (ResponderList<Responder>.Entry, inout Passage) throws -> FanStep
    ) -> FanEnd {
        let late = passage.thread.mine.cell
        var index = start
        while index < entries.count, entries[index].cell.number == late {
            let entry = entries[index]
            index += 1
            if entry.member.isRemoved { continue }
            do {
                _ = try body(entry, &passage)
            } catch is LaneLost {
                continue
            } catch {
                lane.hooks.onLateFailure(entry.cell, error)
            }
        }
        return .lost(next: index)
    }

    @usableFromInline
    func admit(_ cell: Cell, _ member: Member, at position: UInt64?) -> Lane.Admission {
        member.isRemoved ? .skip : lane.admit(cell, at: position)
    }
}
