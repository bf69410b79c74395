import AppService
import TestSupport

@testable import ModuleHostCore

/// One host of a ``DurableTrial``, from its start to its end.
final class DurableLife {
    /// What the trial knows of a module for sure.
    private enum Condition {
        /// It takes part in delivery.
        case level
        /// It is overdue, and stands before the door of this event.
        case standing
        /// It was let through its last door, and catches up.
        case returning
    }

    /// What one module has done.
    private struct Handled {
        var begun: [EventPosition] = []
        var ended: [EventPosition] = []
    }

    /// What the modules do and have done, for their threads.
    private final class Stage: Sendable {
        let handled = Guarded<[String: Handled]>([:])
        /// The doors before which modules are to stand, by module and id of the event.
        let doors = Guarded<[String: Door]>([:])

        /// The door for the next memory warning of each module, which has no id of its own.
        let warnings = Guarded<[String: String]>([:])

        func warned(_ module: ProbeModule, _ probe: Probe) {
            guard let id = warnings.withLock({ $0.removeValue(forKey: module.name) }) else {
                return
            }
            let door = doors.withLock { $0["\(module.name) \(id)"] }
            probe.note("\(module.name) stands \(id)")
            door?.pass()
        }

        func receive(_ module: ProbeModule, _ probe: Probe) throws {
            guard let event = module.context.event, let place = event.position, let id = event.id
            else { return }
            let name = module.name
            handled.withLock { $0[name, default: Handled()].begun.append(place) }
            if let door = doors.withLock({ $0["\(name) \(id)"] }) {
                probe.note("\(name) stands \(id)")
                door.pass()
            }
            handled.withLock { $0[name, default: Handled()].ended.append(place) }
            probe.note("\(name) ends \(place)")
            if place.offset % 7 == 3 { throw TestError() }
        }
    }

    private(set) var errors: [String] = []
    private(set) var tally = DurableTrial.Tally()
    private let names: [String]
    private let number: Int
    private let folder: TemporaryFolder
    private let directory: StateDirectory
    private let random: DurableTrial.Random
    private let probe: Probe
    private let stage = Stage()
    private let test: HostUnderTest
    /// The events that each module has to receive in this life, in order.
    private var owed: [String: [EventPosition]]
    private var conditions: [String: Condition]
    /// The URLs without an answer, by their places in the inbox.
    private var urls: [EventPosition: String]
    /// The URLs that had their answers in this life.
    private var answered: [EventPosition] = []
    /// The ids of all events.
    private var ids: [EventPosition: String]
    /// The events before whose doors an overdue module will stand, by id, in order.
    private var ahead: [String: [String]] = [:]
    private var timesOverdue: [String: Int] = [:]
    private var warnings = 0

    /// Launches the host, and delivers to its modules what an earlier one has left.
    init(
        _ number: Int, of seed: UInt64, _ names: [String], _ backlogs: [Int?],
        in folder: TemporaryFolder, owing owed: [String: [EventPosition]],
        urls: [EventPosition: String], ids: [EventPosition: String], _ random: DurableTrial.Random
    ) async throws {
        (self.number, self.names, self.folder, self.random) = (number, names, folder, random)
        (self.owed, self.urls, self.ids) = (owed, urls, ids)
        directory = StateDirectory(path: folder.path)
        conditions = Dictionary(uniqueKeysWithValues: names.map { ($0, .level) })
        let probe = Probe("durable model, seed \(seed), host \(number)")
        self.probe = probe
        let stage = stage
        for name in names {
            probe.when("\(name) push") { try stage.receive($0, probe) }
            probe.when("\(name) memory-warning") { stage.warned($0, probe) }
        }
        let entries = zip(names, backlogs).map { name, backlog in
            HostUnderTest.Entry(name: name, more: backlog.map { #""backlog": \#($0)"# } ?? "")
        }
        test = try HostUnderTest(
            entries + [HostUnderTest.Entry(name: "l", type: "LateProbe")],
            top: #""schemes": ["app"], "deadlines": {"call": "24h"}"#, folder: folder, probe: probe)
        // Some modules hang again at an event that was left.
        var stalls: [(place: EventPosition, name: String)] = []
        for name in names where random.chance(1, of: 3) {
            guard let places = owed[name], !places.isEmpty else { continue }
            stalls.append((places[random.below(places.count)], name))
        }
        for stall in stalls { close(ids[stall.place] ?? "", stall.name) }
        _ = try await test.launched()
        let order = stalls.sorted {
            ($0.place, index(of: $0.name)) < ($1.place, index(of: $1.name))
        }
        for stall in order { await meet(stall.name, at: ids[stall.place] ?? "") }
        try await send(stalling: [])
    }

    private func index(of name: String) -> Int { names.firstIndex(of: name) ?? 0 }

    // MARK: Steps

    func step() async throws {
        switch random.below(13) {
        case 10, 11: try await openURL()
        case 12: await answer()
        case 0..<4:
            var stalling: [String] = []
            for name in names where random.chance(1, of: 4) {
                if conditions[name] == .returning { await rejoined(name) }
                stalling.append(name)
            }
            try await send(stalling: stalling)
        case 4:
            for _ in 0..<(1 + random.below(4)) { try test.deliver(.memoryWarning) }
            if random.chance(1, of: 2) { try await warn(names[random.below(names.count)]) }
        case 5: test.time.advance(by: .milliseconds(100 + random.below(2000)))
        case 6, 7:
            let standing = names.filter { conditions[$0] == .standing }
            if !standing.isEmpty { await open(standing[random.below(standing.count)]) }
        default: look()
        }
    }

    /// Sends an event, before which some modules are to hang.
    private func send(stalling: [String]) async throws {
        let (accepted, delivered) = (Promise<EventPosition?>(), Promise<Void>())
        let id = "\(number)-\(tally.events)"
        for name in stalling { close(id, name) }
        test.submit(id) {
            if case .accepted(let place) = $0 { return accepted.keep(place) }
            accepted.keep(nil)
            delivered.keep(())
        } onDelivery: { _ in
            delivered.keep(())
        }
        tally.events += 1
        guard let place = await accepted.value else {
            return errors.append("host \(number): event \(id) was not accepted")
        }
        ids[place] = id
        for name in names { owed[name, default: []].append(place) }
        for name in names where stalling.contains(name) { await meet(name, at: id) }
        await delivered.value
    }

    /// Delivers an event that is not durable, in which a module hangs: it is overdue, and has received
    /// every durable event.
    private func warn(_ name: String) async throws {
        if conditions[name] == .returning { await rejoined(name) }
        guard conditions[name] == .level else { return }
        await test.settled()
        warnings += 1
        let id = "warning-\(warnings)"
        close(id, name)
        stage.warnings.withLock { $0[name] = id }
        try test.deliver(.memoryWarning)
        await meet(name, at: id)
        await test.settled()
    }

    /// Sends a URL that a module answers later.
    ///
    /// Not beside a module that is overdue, which may claim it: its delivery ends there.
    private func openURL() async throws {
        guard names.allSatisfy({ conditions[$0] == .level }) else { return }
        let accepted = Promise<EventPosition?>()
        let id = "url-\(number)-\(tally.events)"
        let payload = try JSONValue(parsing: #"{"url": "app://x.l/await?name=\#(id)"}"#)
        test.inbox?.submit(
            InboxSubmission(line: InboxRecord.line(.openURL, payload: payload, id: id), id: id) {
                if case .accepted(let place) = $0 { return accepted.keep(place) }
                accepted.keep(nil)
            })
        tally.events += 1
        guard let place = await accepted.value else {
            return errors.append("host \(number): URL \(id) was not accepted")
        }
        ids[place] = id
        urls[place] = id
        if random.chance(1, of: 4) { LateProbe.promise(id, of: probe).keep("early") }
        await probe.reached("await \(id)")
    }

    /// Answers one of the URLs whose handlers have begun.
    private func answer() async {
        let begun = urls.filter { probe.entries.contains("await \($0.value)") }
        guard !begun.isEmpty else { return }
        let place = begun.keys.sorted()[random.below(begun.count)]
        guard let id = urls[place] else { return }
        LateProbe.promise(id, of: probe).keep("done")
        await probe.reached("resume \(id)")
        while test.inbox?.progress.unansweredPositions.contains(place) == true {
            await test.settled()
        }
        // The lane may have yet to pass it.
        await test.settled()
        urls[place] = nil
        answered.append(place)
    }

    private func close(_ id: String, _ name: String) {
        stage.doors.withLock { $0["\(name) \(id)"] = Door() }
    }

    /// Waits for a module to come to a door on the lane, and lets its time run out there or lets it through.
    private func meet(_ name: String, at id: String) async {
        guard conditions[name] == .level else {
            ahead[name, default: []].append(id)
            return
        }
        await probe.reached("\(name) stands \(id)")
        if random.chance(1, of: 2) { look() }
        guard random.chance(3, of: 4) else { return unlock(id, name) }
        conditions[name] = .standing
        ahead[name] = [id]
        timesOverdue[name, default: 0] += 1
        tally.overdue += 1
        test.overrun()
    }

    private func unlock(_ id: String, _ name: String) {
        stage.doors.withLock { $0["\(name) \(id)"] }?.open()
    }

    /// Lets an overdue module through its door, up to the next one.
    private func open(_ name: String) async {
        guard let id = ahead[name]?.first else { return }
        ahead[name]?.removeFirst()
        unlock(id, name)
        if let next = ahead[name]?.first {
            await probe.reached("\(name) stands \(next)")
        } else {
            conditions[name] = .returning
        }
    }

    private func rejoined(_ name: String) async {
        while test.recorder.records.count(where: {
            $0.module == "x.\(name)" && $0.message.hasPrefix("responsive again")
        }) < timesOverdue[name, default: 0] {
            await test.settled()
        }
        conditions[name] = .level
    }

    // MARK: What the next host would do

    /// The cursor and the black box as they were at one moment: neither may change while they are read.
    private func snapshot() -> (cursor: InboxCursor?, box: BlackBox.Contents?) {
        let folder = InboxFolder(in: directory)
        while true {
            let cursor = try? InboxCursor.load(from: folder).get()
            let box = BlackBox.Contents(in: directory)
            if BlackBox.Contents(in: directory) == box,
                (try? InboxCursor.load(from: folder).get()) == cursor
            {
                return (cursor, box)
            }
        }
    }

    /// The events that the next host would deliver, by module, if this one died now.
    private func left() -> [String: [EventPosition]] {
        let (cursor, box) = snapshot()
        let end = EventPosition(segment: .max, offset: 0)
        let start = InboxStart(
            cursor.map { .success($0) } ?? .failure(.missing(path: "")), box, end: end)
        check(start)
        return owed.mapValues { $0 }.reduce(into: [:]) { left, entry in
            let id = try? ModuleID("x.\(entry.key)")
            left[entry.key] = entry.value.filter { place in
                guard let only = start.only(at: place) else { return true }
                return id.map(only.contains) == true
            }
        }
    }

    /// Compares the URLs that the next host would deliver with those that have an answer.
    private func check(_ start: InboxStart) {
        let isDue = { (place: EventPosition) in
            start.only(at: place)?.contains { $0.text == "x.l" } ?? true
        }
        for (place, id) in urls where !isDue(place) {
            // A module that hung in this life may have ended its delivery, and another may answer it early.
            guard timesOverdue.isEmpty, !probe.entries.contains("resume \(id)") else { continue }
            errors.append("host \(number): URL \(id) at \(place) would never be answered")
        }
        for place in answered where isDue(place) {
            errors.append("host \(number): the URL at \(place) would be answered again")
        }
        tally.unanswered += start.unanswered.count
    }

    /// Compares what the next host would deliver with what the modules have handled.
    @discardableResult
    private func look() -> [String: [EventPosition]] {
        tally.crashes += 1
        let before = stage.handled.withLock { $0 }
        let left = left()
        let after = stage.handled.withLock { $0 }
        for name in names {
            let due = Set(left[name] ?? [])
            for place in owed[name] ?? [] where !due.contains(place) {
                if after[name]?.ended.contains(place) != true {
                    errors.append("host \(number): \(name) would never receive \(place)")
                }
            }
            let ended = before[name]?.ended ?? []
            for place in ended.dropLast() where due.contains(place) {
                errors.append(
                    "host \(number): \(name) would receive \(place) again, and was done with it")
            }
            if let last = ended.last, due.contains(last) { tally.repeated += 1 }
        }
        return left
    }

    /// The files that this host would leave if it died now, and what it would owe.
    func crash() throws -> (
        left: TemporaryFolder, owed: [String: [EventPosition]], urls: [EventPosition: String],
        ids: [EventPosition: String]
    ) {
        while true {
            let before = snapshot()
            let owed = look()
            let copy = try folder.copied()
            let after = snapshot()
            guard before == after else { continue }
            // One that was answered early may be done, or not.
            let entries = probe.entries
            return (copy, owed, urls.filter { !entries.contains("resume \($0.value)") }, ids)
        }
    }

    // MARK: End

    /// Stops the host while events wait for the lane and others come, and checks that each was received or is left
    /// to the next host.
    func stop() async throws {
        for name in names {
            while conditions[name] == .standing { await open(name) }
        }
        for name in names where conditions[name] == .returning { await rejoined(name) }
        let door = Door()
        test.host.onLane { _, _ in door.pass() }
        // More than the lane takes at once, or fewer.
        for _ in 0..<random.below(100) { try await accept() }
        test.host.stop(because: "test")
        for _ in 0..<random.below(40) { try await accept() }
        // Beyond a third of the time of a stop, what stands before it is dropped.
        if random.chance(1, of: 3) { test.time.advance(by: .seconds(11)) }
        door.open()
        if await test.end() != .stopped { errors.append("host \(number): did not stop") }
        let left = look()
        let handled = stage.handled.withLock { $0 }
        for name in names {
            let (ended, due) = (handled[name]?.ended ?? [], left[name] ?? [])
            tally.left += due.count
            if ended + due != owed[name] {
                errors.append(
                    """
                    host \(number): \(name) received \(ended) until the stop, and the next host has \
                    \(due) for it, of \(owed[name] ?? [])
                    """)
            }
        }
    }

    /// Sends an event, and waits until it is accepted.
    private func accept() async throws {
        let id = "\(number)-\(tally.events)"
        tally.events += 1
        guard let place = await test.accept(id) else {
            return errors.append("host \(number): event \(id) was not accepted")
        }
        ids[place] = id
        for name in names { owed[name, default: []].append(place) }
    }

    /// Lets all modules through all doors, and checks what each has received.
    func end() async throws {
        for name in names {
            while conditions[name] == .standing { await open(name) }
        }
        for name in names where conditions[name] == .returning { await rejoined(name) }
        while urls.values.contains(where: { probe.entries.contains("await \($0)") }) {
            await answer()
        }
        try await send(stalling: [])
        let handled = stage.handled.withLock { $0 }
        for name in names where handled[name]?.ended != owed[name] {
            errors.append(
                """
                host \(number): \(name) received \(handled[name]?.ended ?? []), and was to \
                receive \(owed[name] ?? [])
                """)
        }
        if look().values.contains(where: { !$0.isEmpty }) {
            errors.append("host \(number): something is left though all is done")
        }
        if await test.stopped() != .stopped { errors.append("host \(number): did not stop") }
    }
}
