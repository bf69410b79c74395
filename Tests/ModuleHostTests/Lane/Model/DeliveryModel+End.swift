import ModuleHostCore

/// Nothing that was accepted is lost, but what an overdue module misses beyond its backlog.
extension DeliveryModel {
    /// The end: what has not been done by now will not be done.
    ///
    /// - Returns: All that was wrong.
    func end() -> [String] {
        expect(
            overdue.isEmpty || isRace, "\(overdue.map(names)) overdue, and the log does not say so")
        // Where no module received the last event, there are at most as many as were offered.
        let count = numbers[.state(.terminate)].map { $0 + 1 } ?? UInt64(offered)
        checkOffers(undelivered: Int(count) - names.count)
        checkOrder()
        checkStates()
        checkSlices()
        let reach = names.compactMapValues(reach)
        for index in modules.indices { checkReceived(by: index, of: count, reach) }
        return findings.diagnostics
    }

    /// A call that was begun runs to its end, also after its module was unloaded and the lane was closed.
    private func checkSlices() {
        for (number, begun) in slices {
            guard let call = asynchronousCalls[number] else { continue }
            let fails = call.acts.firstIndex { acts in
                acts.contains { if case .fail = $0 { true } else { false } }
            }
            expect(
                begun == fails.map { $0 + 1 } ?? call.acts.count,
                "call \(number) ended after \(begun) of \(call.acts.count) slices")
        }
    }

    /// What was offered before the stop has a number in the log, unless each module that it was for is left behind.
    private func checkOffers(undelivered: Int) {
        let lost = offers.filter { number, offer in
            guard numbers[.numbered(number)] == nil, let to = offer.to, !isReload(number),
                isAwaited(keen: events[number]?.kind != .message)
            else { return false }
            return to < stops ?? .max
        }
        expect(lost.count <= undelivered, "no module received \(lost.keys.sorted())")
    }

    /// Whether one of the modules that receive an event is not left behind.
    private func isAwaited(keen: Bool) -> Bool {
        modules.indices.contains { index in
            (modules[index].spec.isKeen || !keen) && !leftBehind.contains(index)
        }
    }

    /// Whether an event is the end of a reload, which takes its time: a stop may come before it.
    private func isReload(_ number: Int) -> Bool { events[number]?.kind == .configuration }

    /// What was accepted before another was offered stands before it in the log.
    private func checkOrder() {
        var newest = (offered: 0, number: 0)
        for (_, name) in names.sorted(by: { $0.key < $1.key }) {
            guard case .numbered(let number) = name, let offer = offers[number], !isReload(number)
            else { continue }
            expect(
                offer.to ?? .max > newest.offered,
                "\(number) was accepted before \(newest.number), and stands after it")
            if offer.from > newest.offered { newest = (offer.from, number) }
        }
    }

    /// The app's own events come once each, in their order.
    private func checkStates() {
        let states = names.sorted { $0.key < $1.key }.compactMap { _, name -> EventKind? in
            if case .state(let kind) = name { kind } else { nil }
        }
        // A module that is far behind may miss an event that no other module was there to receive.
        var expected: [EventKind] = [.launch, .activate, .resignActive, .background, .terminate]
        expected.removeAll { !states.contains($0) }
        expect(
            states == expected && (states.last == .terminate || !isAwaited(keen: true)),
            "the app's states are \(states)")
    }

    /// The last module that is to receive an event, where not all are.
    private func reach(_ name: Moment.EventName) -> Int? {
        guard case .numbered(let number) = name, events[number]?.kind == .shortcut,
            let sequence = numbers[name]
        else { return nil }
        return modules.indices.last { module in
            modules[module].received.contains { $0.sequence == sequence }
        }
    }

    /// Whether there is an event to be claimed that no module received.
    private var isShortcutLost: Bool {
        offers.keys.contains { events[$0]?.kind == .shortcut && numbers[.numbered($0)] == nil }
    }

    private func checkReceived(by index: Int, of count: UInt64, _ reach: [UInt64: Int]) {
        let module = modules[index]
        var (lost, undelivered) = (0, 0)
        var received = module.received[...]
        for sequence in 0..<count {
            if received.first?.sequence == sequence {
                received.removeFirst()
                continue
            }
            undelivered += 1
            let name = names[sequence]
            guard isDue(name, to: index, reach[sequence]) else { continue }
            // The app may end before it returns.
            guard !leftBehind.contains(index) else { continue }
            lost += 1
            let offered = received.first?.offered ?? self.offered
            expect(
                Int(sequence) + module.spec.backlog < offered,
                "m\(index) lost \(name.map { "\($0)" } ?? "number \(sequence)"), within its backlog"
            )
        }
        // The lane may end before it has said how many: only a stop in the middle can end it so early.
        guard module.lines == 0 else { return }
        expect(
            lost <= module.missed && module.missed <= undelivered,
            "m\(index) missed \(lost) to \(undelivered) events, and the log says \(module.missed)")
    }

    /// Whether a module is to receive an event.
    private func isDue(_ name: Moment.EventName?, to index: Int, _ reach: Int?) -> Bool {
        let isKeen = modules[index].spec.isKeen
        // No module received it. If it was to be claimed, the search ended at the first, which missed it.
        guard let name else { return isKeen && (index == 0 || !isShortcutLost) }
        guard case .numbered(let number) = name, let event = events[number] else { return isKeen }
        switch event.kind {
        case .message: return true
        case .configuration: return isKeen
        case .shortcut: return isKeen && index <= reach ?? .max
        }
    }
}
