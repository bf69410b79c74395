/// The position at which a host continues the inbox of another one.
struct InboxStart {
    /// The first event that the lane of the last host had not begun; nil for the start of the log.
    private(set) var next: EventPosition?
    /// The modules that had not received everything before, with the first event that each had not completed.
    private(set) var modules: [ModuleID: EventPosition] = [:]
    /// The number of times that the delivery of an event was begun and not ended; 0 for one that modules had begun when a host
    /// ended in order.
    private(set) var attempts: [EventPosition: Int] = [:]
    /// The events before ``next`` that were delivered, and whose answers had not come: they are delivered again.
    private(set) var unanswered: Set<EventPosition> = []
    /// The end of the events that an earlier host may have delivered without a note that is known here.
    ///
    /// Set if the machine went down, or the notes are lost; nil if there are none.
    private(set) var uncertainBefore: EventPosition?
    /// The messages about it for the log.
    private(set) var notices: [String] = []

    /// Combines the cursor with the newer notes of the black box.
    ///
    /// - Parameters:
    ///   - cursor: The cursor of the last host, or the reason why there is none.
    ///   - contents: The contents of its black box; nil for none, for example where the machine went down.
    init(
        _ cursor: Result<InboxCursor, InboxCursorError>, _ contents: BlackBox.Contents?,
        end: EventPosition
    ) {
        switch cursor {
        case .success(let cursor):
            (next, modules, attempts) = (cursor.next, cursor.modules, cursor.attempts)
            unanswered = cursor.unanswered
            uncertainBefore = cursor.uncertainBefore
            // If the two differ by more than one, the cursor was replaced by another.
            guard let progress = contents?.progress,
                progress.cursorSequence == cursor.sequence
                    || progress.cursorSequence == cursor.sequence + 1
            else {
                doubt(upTo: end)
                return
            }
            if let last = progress.last, last > end {
                notices.append(
                    "the black box has \(last), but the inbox ends at \(end): only the cursor is "
                        + "used; events that were done may be delivered again")
                doubt(upTo: end)
            } else {
                take(progress, contents)
            }
        // The state before the first event, where no host has run yet.
        case .failure(.missing(path: _)) where contents == nil: break
        case .failure(let error):
            notices.append("\(error)")
            doubt(upTo: end)
        }
    }

    /// Notes that each event from here to the end of the log may have been delivered.
    private mutating func doubt(upTo end: EventPosition) {
        if first.map({ $0 < end }) ?? true { uncertainBefore = end }
    }

    private mutating func take(_ progress: BlackBox.Progress, _ contents: BlackBox.Contents?) {
        // Before its first event the last host had added nothing to the cursor. From then on the box has the
        // position of a module that is behind.
        guard let reached = progress.next else { return }
        next = max(next ?? reached, reached)
        modules = progress.behind.mapValues(\.position)
        unanswered = Set(progress.unanswered.keys)
        let hasDied = contents?.state == .running
        var begun: Set<EventPosition> = []
        for (module, behind) in progress.behind where behind.begun {
            // One that hung in it does so again.
            if hasDied || contents?.overdue.contains(module) == true {
                begun.insert(behind.position)
            } else {
                attempts[behind.position, default: 0] += 0
            }
        }
        // Those up to the last one that a module was notified of may be repeated: for others, too, that have yet to receive one.
        if let last = progress.behind.values.compactMap(\.notified).max(),
            let end = EventPosition(rawValue: last.rawValue &+ 1)
        {
            uncertainBefore = uncertainBefore.map { max($0, end) } ?? end
        }
        // A host that has ended has not died of those without an answer.
        if hasDied { begun.formUnion(progress.unanswered.filter(\.value).keys) }
        for position in begun { attempts[position, default: 0] += 1 }
        guard let current = progress.current, current.position >= next ?? current.position else {
            return
        }
        attempts[current.position] = max(attempts[current.position] ?? 0, current.attempt)
        // The lane had reached a module: those before it are done. Without that, none is.
        guard let contents, let stuck = contents.outermost,
            let index = contents.order.firstIndex(of: stuck)
        else {
            next = current.position
            return
        }
        // Any word may stand in a box, also one after which there is no position.
        next = EventPosition(rawValue: current.position.rawValue &+ 1) ?? current.position
        for module in contents.order[index...] where modules[module] == nil {
            modules[module] = current.position
        }
    }

    /// The last position that is mentioned.
    private var last: EventPosition? {
        ([next].compactMap(\.self) + modules.values + attempts.keys + unanswered).max()
    }

    /// Limits all positions to the end of the log.
    private mutating func clamp(to end: EventPosition) {
        next = next.map { min($0, end) }
        modules = modules.mapValues { min($0, end) }
        attempts = attempts.filter { $0.key < end }
        unanswered = unanswered.filter { $0 < end }
    }

    /// Returns whether a cursor differs from this.
    func differs(from cursor: InboxCursor) -> Bool {
        next != cursor.next || modules != cursor.modules || attempts != cursor.attempts
            || unanswered != cursor.unanswered || uncertainBefore != cursor.uncertainBefore
    }

    /// The position at which reading begins; nil for the start of the log.
    var first: EventPosition? {
        guard let next else { return nil }
        return unanswered.reduce(modules.values.reduce(next, min), min)
    }

    /// Returns whether an event may have been delivered by an earlier host, beside its ``attempts``.
    func isUncertain(at position: EventPosition) -> Bool {
        uncertainBefore.map { position < $0 } == true || unanswered.contains(position)
            || attempts[position] != nil
    }

    /// Returns the modules that have yet to receive an event which all others have; nil for all modules.
    func only(at position: EventPosition) -> Set<ModuleID>? {
        guard let next, position < next, !unanswered.contains(position) else { return nil }
        return Set(modules.filter { $0.value <= position }.keys)
    }

    /// Returns the modules that were behind and have not caught up when the lane has reached `position`, except
    /// overdue ones.
    func behind(at position: EventPosition) -> [ModuleID: EventPosition] {
        guard let next, position < next else { return [:] }
        return modules.mapValues { max($0, position) }
    }

    /// Removes and returns the modules that the slatefile no longer has, with the first event that each has not
    /// received.
    mutating func removeOthers(
        than ids: Set<ModuleID>
    ) -> [(module: ModuleID, position: EventPosition)] {
        let gone = modules.filter { !ids.contains($0.key) }
        for id in gone.keys { modules[id] = nil }
        return gone.map { (module: $0.key, position: $0.value) }.sortedByText(\.module.text)
    }

    /// Forgets a module that the app no longer has.
    mutating func remove(_ module: ModuleID) { modules[module] = nil }
}

extension InboxStart {
    /// Finds the position at which to continue in a folder, and ensures that new records are appended behind
    /// it.
    ///
    /// If the log ends before the position that the last host had reached, segments were cut or removed: a
    /// new one is begun then, since a position that was used may not be reused.
    init(
        in folder: InboxFolder, _ cursor: Result<InboxCursor, InboxCursorError>,
        _ contents: BlackBox.Contents?
    ) throws(InboxError) {
        self = try InboxLock(folder).hold(.exclusive) { () throws(InboxError) in
            folder.removeLeftovers()
            let extent = try InboxExtent(of: folder)
            var start = InboxStart(cursor, contents, end: extent.end)
            if let last = start.last, last > extent.end {
                try start.goBeyond(last, in: folder, extent)
            }
            return start
        }
    }

    /// Begins a new segment behind a position; called under the lock.
    private mutating func goBeyond(
        _ last: EventPosition, in folder: InboxFolder, _ extent: InboxExtent
    ) throws(InboxError) {
        clamp(to: extent.end)
        guard last.segment < .max else { throw .numbersUsedUp(folder: folder.path) }
        _ = try folder.createSegment(last.segment + 1)
        notices.append(
            "inbox truncated: expected \(last), found the end at \(extent.end); segments were removed or "
                + "cut. Continuing in segment \(last.segment + 1)")
    }
}
