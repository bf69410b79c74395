/// The position at which a host continues the inbox of another one.
struct InboxStart {
    /// The first event that the lane of the last host had not begun; nil for the start of the log.
    private(set) var next: EventPosition?
    /// Those that had not received everything before: the first event that each was not done with.
    private(set) var modules: [ModuleID: EventPosition] = [:]
    /// The number of times that the delivery of an event was begun and not ended.
    private(set) var attempts: [EventPosition: Int] = [:]
    /// The lines about it for the log.
    private(set) var notices: [String] = []

    /// Puts together what the cursor says and what the black box knows beyond it.
    ///
    /// - Parameters:
    ///   - cursor: The cursor of the last host, or why there is none.
    ///   - contents: What its black box says; nil for nothing, as where the machine went down.
    ///   - end: Where the log ends.
    init(
        _ cursor: Result<InboxCursor, InboxCursorFault>, _ contents: BlackBox.Contents?,
        end: EventPosition
    ) {
        switch cursor {
        case .success(let cursor):
            (next, modules, attempts) = (cursor.next, cursor.modules, cursor.attempts)
            // Of two that differ by more than one, another cursor was put there.
            if let progress = contents?.progress,
                progress.cursorSequence == cursor.sequence
                    || progress.cursorSequence == cursor.sequence + 1
            {
                if let last = progress.last, last > end {
                    notices.append(
                        "the black box speaks of \(last), but the inbox ends at \(end): going by the "
                            + "cursor alone, events that were done may be delivered again")
                } else {
                    take(progress, contents)
                }
            }
        // As before the first event, where no host has run yet.
        case .failure(.missing(path: _)) where contents == nil: break
        case .failure(let fault): notices.append("\(fault)")
        }
    }

    private mutating func take(_ progress: BlackBox.Progress, _ contents: BlackBox.Contents?) {
        // Before its first event the last host had added nothing to the cursor. From then on a module that
        // is behind says so in the box.
        guard let place = progress.next else { return }
        next = max(next ?? place, place)
        modules = progress.behind.mapValues(\.position)
        for position in Set(progress.behind.values.filter(\.begun).map(\.position)) {
            attempts[position, default: 0] += 1
        }
        guard let current = progress.current, current.position >= next ?? current.position else {
            return
        }
        attempts[current.position] = max(attempts[current.position] ?? 0, current.attempt)
        // The lane had come to some module: those before it are done. Without that, none is.
        guard let contents, let stuck = contents.outermost,
            let index = contents.order.firstIndex(of: stuck)
        else {
            next = current.position
            return
        }
        next = EventPosition(
            segment: current.position.segment, offset: current.position.offset + 1)
        for module in contents.order[index...] where modules[module] == nil {
            modules[module] = current.position
        }
    }

    /// The last place that is spoken of.
    private var last: EventPosition? {
        ([next].compactMap(\.self) + modules.values + attempts.keys).max()
    }

    /// Goes no further than the log.
    private mutating func clamp(to end: EventPosition) {
        next = next.map { min($0, end) }
        modules = modules.mapValues { min($0, end) }
        attempts = attempts.filter { $0.key < end }
    }

    /// Returns whether a cursor differs from this.
    func differs(from cursor: InboxCursor) -> Bool {
        next != cursor.next || modules != cursor.modules || attempts != cursor.attempts
    }

    /// The position at which reading begins; nil for the start of the log.
    var first: EventPosition? {
        guard let next else { return nil }
        return modules.values.reduce(next, min)
    }

    /// Returns the modules that have yet to receive an event which all others have; nil for all modules.
    func only(at position: EventPosition) -> Set<ModuleID>? {
        guard let next, position < next else { return nil }
        return Set(modules.filter { $0.value <= position }.keys)
    }

    /// Those that were behind and have not caught up where the lane has come to `place`, overdue ones aside.
    func behind(at place: EventPosition) -> [ModuleID: EventPosition] {
        guard let next, place < next else { return [:] }
        return modules.mapValues { max($0, place) }
    }

    /// Drops modules that the slatefile no longer has.
    ///
    /// - Returns: Those dropped.
    mutating func keep(_ ids: Set<ModuleID>) -> [ModuleID] {
        let gone = modules.keys.filter { !ids.contains($0) }.sorted { $0.text < $1.text }
        for id in gone { modules[id] = nil }
        return gone
    }
}

extension InboxStart {
    /// Finds out where to go on in a folder, and that what is appended from now on lies behind it.
    ///
    /// If the log ends before the place that the last host had come to, segments were cut or removed: a new
    /// one is begun then, since a place that was used may not be used again.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    init(
        in folder: InboxFolder, _ cursor: Result<InboxCursor, InboxCursorFault>,
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

    /// Called under the lock.
    private mutating func goBeyond(
        _ last: EventPosition, in folder: InboxFolder, _ extent: InboxExtent
    ) throws(InboxError) {
        clamp(to: extent.end)
        guard last.segment < .max else { throw .numbersUsedUp(folder: folder.path) }
        _ = try folder.createSegment(last.segment + 1)
        notices.append(
            "the last host had come to \(last), but the inbox ends at \(extent.end): somebody cut or "
                + "removed segments; going on in a new segment, \(last.segment + 1)")
    }
}
