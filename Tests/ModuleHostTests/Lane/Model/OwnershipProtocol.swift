/// A thread that moves its ownership word by plain stores and one that takes the lane from it, on a processor that
/// keeps stores back, in every order in which the two can act.
///
/// Deliveries of the lane alone: each move goes to another module.
///
/// Each thread stores into a buffer of its own, from which the memory receives the stores later, in their order: the
/// owner may read the flag before its word is seen by others. That is what x86 does; a processor that reorders more
/// gets release stores and sequentially consistent loads, which it keeps in order itself.
struct OwnershipProtocol {
    /// Whether the taking thread has all threads pass a memory barrier between its flag and its look at the word.
    var hasBarrier = true
    /// Whether the owner asks under the lock when it sees the flag.
    var asksUnderLock = true
    /// Whether the owner makes the delivery in which the lane was taken from it.
    var makesTakenDelivery = true
    /// The number of attempts of the taking thread.
    var attempts = 3
    /// The last delivery that the owner begins.
    var deliveries = 6

    private enum Place: Hashable { case word, flag }

    private struct Store: Hashable {
        let place: Place
        let value: Int
    }

    private enum OwnerStep: Hashable { case inModule, hasStored, sawFlag, hasLock, lost }
    private enum TakerStep: Hashable {
        case looks, waits, hasLock, hasFlagged, reads, withdraws, leaves
    }

    private struct State: Hashable {
        // The memory. Words are the numbers of deliveries.
        var word = 1
        var flag = 0
        var lockIsFree = true
        // The owner.
        var owner = OwnerStep.inModule
        var ownerStores: [Store] = []
        /// The delivery that it is in.
        var delivery = 1
        // The taking thread.
        var taker = TakerStep.looks
        var takerStores: [Store] = []
        var observed = 0
        var attempts = 0
        /// The delivery at which it took the lane.
        var taken: Int?

        mutating func flush(_ stores: WritableKeyPath<State, [Store]>, _ count: Int? = nil) {
            for store in self[keyPath: stores].prefix(count ?? .max) {
                switch store.place {
                case .word: word = store.value
                case .flag: flag = store.value
                }
            }
            self[keyPath: stores].removeFirst(count ?? self[keyPath: stores].count)
        }
    }

    /// Tries all orders.
    ///
    /// - Returns: The number of states, and what is wrong in one of them; nil where nothing is.
    func explore() -> (states: Int, violation: String?) {
        var known: Set<State> = [State()]
        var open = [State()]
        while let state = open.popLast() {
            if let violation = violation(in: state) { return (known.count, violation) }
            for next in successors(of: state) where known.insert(next).inserted {
                open.append(next)
            }
        }
        return (known.count, nil)
    }

    private func violation(in state: State) -> String? {
        if let taken = state.taken, state.delivery > taken {
            return
                "delivery \(state.delivery) has begun on the thread from which the lane was taken in \(taken)"
        }
        if state.owner == .lost, let taken = state.taken, state.delivery < taken {
            return
                "delivery \(taken) is left to the thread from which the lane was taken, and it does not make it"
        }
        if state.owner == .lost, state.taken == nil {
            return "the owner gave up the lane, and no thread took it"
        }
        return nil
    }

    private func successors(of state: State) -> [State] {
        var next = [ownerStep(state), takerStep(state)].compactMap(\.self)
        for stores in [\State.ownerStores, \State.takerStores] where !state[keyPath: stores].isEmpty
        {
            var drained = state
            drained.flush(stores, 1)
            next.append(drained)
        }
        return next
    }

    private func ownerStep(_ state: State) -> State? {
        var state = state
        switch state.owner {
        case .inModule:
            guard state.delivery < deliveries else { return nil }
            state.ownerStores.append(Store(place: .word, value: state.delivery + 1))
            state.owner = .hasStored
        case .hasStored:
            if state.flag == 0 {
                state.delivery += 1
                state.owner = .inModule
            } else {
                state.owner = asksUnderLock ? .sawFlag : .hasLock
            }
        case .sawFlag:
            guard state.lockIsFree else { return nil }
            // An atomic exchange, as the one of a lock, empties the buffer.
            state.flush(\.ownerStores)
            state.lockIsFree = false
            state.owner = .hasLock
        case .hasLock:
            let isTakenInNext = makesTakenDelivery && state.taken == state.delivery + 1
            if state.flag == 0 || isTakenInNext {
                state.delivery += 1
                state.owner = .inModule
            } else {
                state.ownerStores.append(Store(place: .word, value: state.delivery))
                state.owner = .lost
            }
            state.flush(\.ownerStores)
            if asksUnderLock { state.lockIsFree = true }
        case .lost: return nil
        }
        return state
    }

    private func takerStep(_ state: State) -> State? {
        var state = state
        switch state.taker {
        case .looks:
            guard state.attempts < attempts, state.taken == nil else { return nil }
            state.attempts += 1
            state.observed = state.word
            state.taker = .waits
        case .waits:
            guard state.lockIsFree else { return nil }
            state.lockIsFree = false
            state.taker = .hasLock
        case .hasLock:
            state.takerStores.append(Store(place: .flag, value: 1))
            state.taker = .hasFlagged
        case .hasFlagged:
            if hasBarrier {
                state.flush(\.takerStores)
                state.flush(\.ownerStores)
            }
            state.taker = .reads
        case .reads:
            if state.word == state.observed {
                state.taken = state.observed
                state.taker = .leaves
            } else {
                state.taker = .withdraws
            }
        case .withdraws:
            state.takerStores.append(Store(place: .flag, value: 0))
            state.taker = .leaves
        case .leaves:
            state.flush(\.takerStores)
            state.lockIsFree = true
            state.taker = .looks
        }
        return state
    }
}
