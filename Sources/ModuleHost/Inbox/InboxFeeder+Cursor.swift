/// Storing the progress for the next host.
extension InboxFeeder {
    mutating func storeCursorIfDue() {
        // The current work of the lane will end while nothing else wakes this thread.
        if isAway {
            isCursorDue = nil
            return
        }
        let isAtWork = inbox.progress.countInFlight > 0 || lane?.droppedRanges.isEmpty == false
        guard isAtWork || currentCursor() != nil else {
            isCursorDue = nil
            return
        }
        let instant = inbox.time.now()
        guard let due = isCursorDue else {
            isCursorDue = instant + inbox.limits.cursorDelay
            return
        }
        if instant >= due {
            if let lane, let reader {
                do throws(InboxError) { try moveToDeadLetters(on: lane, reader) } catch {
                    note(error, .puttingAside)
                }
            }
            storeCursor()
            isCursorDue = nil
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
        for (slot, place) in lane?.undelivered ?? [] {
            if let id = slot.id { cursor.modules[id] = place }
        }
        cursor.unanswered = inbox.progress.unansweredPositions
        let lowest = cursor.lowest ?? next
        cursor.attempts = stored.attempts.filter { $0.key >= lowest }
        return cursor == stored ? nil : cursor
    }

    mutating func storeCursor() {
        if let cursor = currentCursor() { store(cursor) }
    }

    private mutating func store(_ cursor: InboxCursor) {
        var cursor = cursor
        do throws(InboxError) {
            // The box may be one ahead of the cursor, but the cursor never ahead of the box.
            inbox.box?.setCursorSequence(cursor.sequence + 1)
            try cursor.store(in: inbox.folder)
            stored = cursor
            inbox.settled(.cursor)
            if let lowest = cursor.lowest { try removeSegments(below: lowest) }
        } catch {
            note(error, .cursor)
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
