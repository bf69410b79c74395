import AppService

/// Accepting the submissions of the host's clients.
extension InboxFeeder {
    /// Writes events, all at once, and reports the result to each submitter.
    mutating func accept(_ submissions: [InboxSubmission]) {
        let (fresh, repeated) = sort(submissions)
        guard !fresh.isEmpty else { return }
        do throws(InboxError) {
            let places = try inbox.lockWatch.watching { () throws(InboxError) in
                try openWriter().append(fresh.map(\.line))
            }
            inbox.metrics.withLock { $0.accepted += fresh.count }
            for (submission, place) in zip(fresh, places) {
                if let id = submission.id { known.insert(id, at: place) }
                if let onDelivery = submission.onDelivery {
                    inbox.progress.wait(for: place, onDelivery)
                }
                if let record = submission.record {
                    unread.add(record, at: place, size: submission.line.count)
                }
                submission.onAcceptance(.accepted(place))
            }
            for submission in repeated { reportDuplicate(submission) }
            inbox.settled(.accepting)
        } catch {
            note(error, .accepting)
            for submission in fresh + repeated { submission.onAcceptance(.failed(error)) }
        }
    }

    /// Reports the result for submissions whose id is known, or whose id cannot be looked up.
    ///
    /// - Returns: The submissions that are to be written, and those that have the id of one of them.
    private mutating func sort(
        _ submissions: [InboxSubmission]
    ) -> (fresh: [InboxSubmission], repeated: [InboxSubmission]) {
        var (fresh, repeated): ([InboxSubmission], [InboxSubmission]) = ([], [])
        fresh.reserveCapacity(submissions.count)
        var ids: Set<String> = []
        for submission in submissions {
            do {
                if let id = submission.id {
                    if try isKnown(id) {
                        reportDuplicate(submission)
                        continue
                    }
                    if !ids.insert(id).inserted {
                        repeated.append(submission)
                        continue
                    }
                }
                fresh.append(submission)
            } catch {
                submission.onAcceptance(.failed(error))
            }
        }
        return (fresh, repeated)
    }

    private func reportDuplicate(_ submission: InboxSubmission) {
        inbox.metrics.withLock { $0.duplicates += 1 }
        submission.onAcceptance(.duplicate)
    }

    private mutating func isKnown(_ id: String) throws -> Bool {
        if known.isComplete { return try known.contains(id) }
        if let scanError { throw scanError }
        try inbox.folder.requirePlace()
        throw InboxRefusal.ending
    }

    mutating func openWriter() throws(InboxError) -> InboxWriter {
        if let writer { return writer }
        let new = try InboxWriter(inbox.folder, segments)
        writer = new
        return new
    }

    /// Continues to scan the ids of the log, unless all are known.
    ///
    /// - Parameter isWaitedFor: Whether events wait for the scan.
    mutating func scanIDs(isWaitedFor: Bool) {
        guard !known.isComplete, !isAway else { return }
        if let pause, inbox.time.now() < pause { return }
        do throws(InboxError) {
            try inbox.lockWatch.watching { () throws(InboxError) in
                try known.scan(inbox.folder, segments)
            }
            if scanError != nil { inbox.settled(.reading) }
            scanError = nil
            hasMore = true
            if isWaitedFor { noteScan() }
        } catch {
            // As in ``feed(_:)``.
            pause = inbox.time.now() + Limits.pause
            note(error, .reading)
            scanError = error
        }
    }

    /// Logs, once, what events with an id wait for.
    private mutating func noteScan() {
        let now = inbox.time.now()
        let since = waitedForScan ?? now
        waitedForScan = since
        guard !isScanReported, since.duration(to: now) >= inbox.limits.patience else { return }
        isScanReported = true
        inbox.log.notice(
            "events with an id have been waiting for \(since.duration(to: now).briefText), until the "
                + "inbox is read for the ids that it has; it is read up to \(known.position)")
    }
}
