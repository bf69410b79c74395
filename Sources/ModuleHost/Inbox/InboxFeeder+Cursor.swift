/// Storing the progress for the next host.
extension InboxFeeder {
    mutating func storeCursorIfDue() {
        if isAway {
            isCursorDue = nil
            return
        }
        let now = inbox.time.now()
        if let due = isCursorDue, now < due { return }
        if isCursorDue != nil, let lane, let reader {
            do throws(InboxError) { try moveToDeadLetters(on: lane, reader) } catch {
                note(error, .puttingAside)
            }
        }
        // The current work of the lane will end while nothing else wakes this thread.
        let isAtWork = inbox.progress.countInFlight > 0 || lane?.droppedRanges.isEmpty == false
        let next = now + inbox.limits.cursorDelay
        if isCursorDue != nil {
            let isStored = storeCursor()
            lastComparison = now
            isCursorDue = isAtWork || !isStored ? next : nil
        } else if isAtWork || wasCompared(at: now) {
            isCursorDue = next
        } else {
            lastComparison = now
            isCursorDue = currentCursor() == nil ? nil : next
        }
    }

    /// Returns whether the cursor was compared with the stored one less than its delay ago.
    ///
    /// To compare it visits all modules for which events wait, and each module that fails or runs again wakes this
    /// thread.
    private func wasCompared(at now: ContinuousClock.Instant) -> Bool {
        lastComparison.map { now < $0 + inbox.limits.cursorDelay } ?? false
    }

    /// Returns whether every module that may receive an event is past it and has answered it.
    ///
    /// - Parameter record: The event; nil where it is not known.
    func isDone(_ position: EventPosition, _ record: InboxRecord?) -> Bool {
        let cursor = currentCursor() ?? stored
        guard let next = cursor.next, position < next, !cursor.unanswered.contains(position) else {
            return false
        }
        return cursor.modules.allSatisfy { module, place in
            place > position
                || record.map { host?.mayReceive($0.event, by: module) == false } ?? false
        }
    }

    /// Returns the current cursor; nil where it equals the stored one.
    private func currentCursor() -> InboxCursor? {
        guard reader != nil, let next = inbox.progress.next else { return nil }
        // First the events that the lane has done, then the modules that are behind and the events without an
        // answer: what falls behind in between is counted twice instead of not at all.
        var cursor = stored
        cursor.next = max(next, start.next ?? next)
        cursor.modules = start.behind(at: next)
        // A module that has failed, and the one made to take its place, both have events that wait for them.
        var behind: [ModuleID: EventPosition] = [:]
        for (slot, place) in lane?.undelivered ?? [] {
            if let id = slot.id { behind[id] = min(behind[id] ?? place, place) }
        }
        cursor.modules.merge(behind) { $1 }
        cursor.unanswered = inbox.progress.unansweredPositions
        let lowest = cursor.lowest ?? next
        cursor.attempts = stored.attempts.filter { $0.key >= lowest }
        if let end = cursor.uncertainBefore, lowest >= end { cursor.uncertainBefore = nil }
        return cursor == stored ? nil : cursor
    }

    /// Stores the current cursor, where it differs from the stored one, and removes the segments that are done.
    ///
    /// - Returns: False where that failed.
    @discardableResult
    mutating func storeCursor() -> Bool {
        guard reader != nil else { return true }
        do throws(InboxError) {
            if var cursor = currentCursor() {
                // The box may be one ahead of the cursor, but the cursor never ahead of the box.
                inbox.box?.setCursorSequence(cursor.sequence + 1)
                try cursor.store(in: inbox.folder)
                stored = cursor
            }
            if let lowest = stored.lowest { try removeSegments(below: lowest) }
            inbox.settled(.cursor)
            return true
        } catch {
            note(error, .cursor)
            return false
        }
    }

    private mutating func removeSegments(below lowest: EventPosition) throws(InboxError) {
        guard lowest.segment > cleared else { return }
        // Numbers may be missing, so the remaining segments are counted.
        let done = try segments.numbers().filter { $0 < lowest.segment }
        if let last = done.dropLast(Int(inbox.folder.limits.done)).last {
            let first = EventPosition(segment: last + 1, offset: 0)
            try inbox.folder.removeSegments(below: first)
            known.removeSegments(below: first.segment)
            inbox.skipped.withLock { skipped in skipped = skipped.filter { $0 >= first } }
        }
        cleared = lowest.segment
    }
}

/// Looking for the folder of the inbox.
extension InboxFeeder {
    mutating func note(_ error: InboxError, _ work: InboxMetrics.Work) {
        inbox.reportProblem(error, work)
        if case .moved = error { isAway = true }
    }

    /// Checks whether a folder that was moved is back: nothing else ends that state, so no work is tried from
    /// time to time.
    mutating func lookForPlace() {
        guard isAway, inbox.folder.isInPlace else { return }
        isAway = false
        inbox.settled(.everything)
    }
}
