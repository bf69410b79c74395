import AppService

/// Accepting the submissions of the host's clients.
extension InboxFeeder {
    /// Writes events, all at once, and reports the result to each submitter.
    mutating func accept(_ submissions: [InboxSubmission]) {
        let (fresh, repeated) = sort(submissions)
        guard !fresh.isEmpty else { return }
        do throws(InboxError) {
            let positions = try inbox.lockWatch.watching { () throws(InboxError) in
                try openWriter().append(fresh.map(\.line))
            }
            inbox.metrics.withLock { $0.accepted += fresh.count }
            for (submission, position) in zip(fresh, positions) {
                if let id = submission.id { known.insert(id, at: position) }
                if let onDelivery = submission.onDelivery {
                    inbox.progress.wait(for: position, onDelivery)
                }
                if let record = submission.record {
                    unread.add(record, at: position, size: submission.line.count)
                }
                submission.onAcceptance(.accepted(position))
            }
            for repeated in repeated {
                let first = fresh[repeated.first].parsed
                report(repeated.submission, repeating: first, at: positions[repeated.first])
            }
            inbox.settled(.accepting)
        } catch {
            note(error, .accepting)
            for submission in fresh + repeated.map(\.submission) {
                submission.onAcceptance(.failed(error))
            }
        }
    }

    /// A submission with the id of another one that is written with it.
    private struct Repeated {
        let submission: InboxSubmission
        /// The index of the other one among those that are written.
        let first: Int
    }

    /// An id by its bytes: as a `String` a composed accent equals a decomposed one.
    private struct ID: Hashable {
        let text: String

        static func == (one: ID, other: ID) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// Reports the result for submissions whose id is known, or whose id cannot be looked up.
    ///
    /// - Returns: The submissions that are to be written, and those that have the id of one of them.
    private mutating func sort(
        _ submissions: [InboxSubmission]
    ) -> (fresh: [InboxSubmission], repeated: [Repeated]) {
        var (fresh, repeated): ([InboxSubmission], [Repeated]) = ([], [])
        fresh.reserveCapacity(submissions.count)
        var ids: [ID: Int] = [:]
        for submission in submissions {
            do {
                if let id = submission.id {
                    if let original = try original(of: id) {
                        report(submission, repeating: original.record, at: original.position)
                        continue
                    }
                    if let first = ids[ID(text: id)] {
                        repeated.append(Repeated(submission: submission, first: first))
                        continue
                    }
                    ids[ID(text: id)] = fresh.count
                }
                fresh.append(submission)
            } catch {
                submission.onAcceptance(.failed(error))
            }
        }
        return (fresh, repeated)
    }

    /// Reports the result for a submission whose id is that of an event in the log.
    private func report(
        _ submission: InboxSubmission, repeating first: InboxRecord?, at position: EventPosition
    ) {
        let conflict = submission.id.flatMap {
            IDConflict($0, of: submission.parsed, and: first, at: position)
        }
        if let conflict { return submission.onAcceptance(.failed(conflict)) }
        inbox.metrics.withLock { $0.duplicates += 1 }
        guard let onDelivery = submission.onDelivery, !isDone(position, first) else {
            return submission.onAcceptance(.duplicate)
        }
        // Its sender need not know the place: what counts is that it is not done yet.
        submission.onAcceptance(.accepted(position))
        onDelivery(.pending)
    }

    private mutating func original(of id: String) throws -> RetainedIDs.Original? {
        if known.isComplete { return try known.original(of: id) }
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
