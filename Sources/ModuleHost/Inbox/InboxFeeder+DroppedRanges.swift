/// The events that are dropped for a module, until they are in the dead letters.
extension InboxFeeder {
    /// Moves events to the dead letters: those with which an overdue or failed module is too far behind, and
    /// those that were dropped for other reasons, each under the module's name.
    ///
    /// - Throws: ``InboxError`` where the log cannot be read.
    mutating func moveToDeadLetters(
        on lane: Lane, _ reader: InboxReader
    ) throws(InboxError) {
        let undelivered = lane.undelivered
        // Read once for all modules.
        var sizes = SegmentSizes()
        if !undelivered.isEmpty { try sizes.look(at: inbox.folder, inbox.folder.segments()) }
        for (slot, position) in undelivered {
            let end = reader.position
            let keep = keep(of: slot)
            guard sizes.bytes(from: position, to: end) > keep else { continue }
            // A quarter more than necessary, so that it is not repeated with the next event.
            let bound = sizes.position(keep / 4 * 3, before: end)
            guard let range = lane.drop(before: bound, by: slot) else { continue }
            if range.reason == .failed { noteTooMuch(waitsFor: slot) }
        }
        for range in lane.droppedRanges { settle(range, on: lane, reader) }
    }

    /// Moves a dropped range to the dead letters; where the disk does not accept it, a later turn tries
    /// again.
    private mutating func settle(_ range: DroppedRange, on lane: Lane, _ reader: InboxReader) {
        do throws(InboxError) {
            // Events that an unloaded module has not received belong to no module.
            let isSomebodys = range.slot.isListed || range.outlastsModule
            let dropped = isSomebodys ? try moveToDeadLetters(range, reader) : 0
            lane.settle(range, dropped: dropped)
            if case .removed = range.reason, let id = range.slot.id { start.remove(id) }
            inbox.settled(.puttingAside)
        } catch {
            note(error, .puttingAside)
        }
    }

    private func reason(of range: DroppedRange) -> String {
        let module = "module '\(range.slot.id?.text ?? "")'"
        return switch range.reason {
        case .behind: "\(module) is more than \(ByteSize.text(of: keep(of: range.slot))) behind"
        case .failed:
            "\(module) has failed, and more than \(ByteSize.text(of: keep(of: range.slot))) wait for it"
        case .removed(let state): "\(module) \(state) when it was removed or disabled"
        case .event(let reason): "\(module): \(reason)"
        }
    }

    private func keep(of slot: ModuleSlot) -> Int { inbox.limits.behind ?? slot.limits.keep }

    /// Moves events that earlier hosts left for modules which are not part of the app any more to the dead letters.
    ///
    /// - Throws: ``InboxError`` where the log cannot be read, or the dead letters not written.
    mutating func dropRemoved(_ modules: Set<ModuleID>) throws(InboxError) {
        var kept = start
        let gone = kept.removeOthers(than: modules)
        guard !gone.isEmpty else { return }
        let reader = try InboxReader(inbox.folder)
        for (module, position) in gone {
            guard let end = start.next, position < end else { continue }
            let count = try moveToDeadLetters(
                DroppedRange(
                    slot: ModuleSlot(number: 0, id: module), first: position, begun: [],
                    places: position..<end, excluded: [], reason: .removed("had not received it")),
                reader)
            guard count > 0 else { continue }
            inbox.log.of(module: module.text).warning(
                "not in the slatefile any more: \(count) of the events that waited for it in the inbox "
                    + "are dead letters now")
        }
        start = kept
    }

    /// Warns, once for each module that has failed, that events no longer wait for it.
    private mutating func noteTooMuch(waitsFor slot: ModuleSlot) {
        guard let id = slot.id, overfull.insert(id).inserted else { return }
        inbox.log.of(module: id.text).warning(
            "failed, and more than \(ByteSize.text(of: keep(of: slot))) of the inbox wait for it: the oldest "
                + "events are moved to dead-letters.ndjson; '\(inbox.program.name) restart \(id)' "
                + "delivers the others"
        )
    }

    private func moveToDeadLetters(
        _ range: DroppedRange, _ reader: InboxReader
    ) throws(InboxError) -> Int {
        let reason = reason(of: range)
        var dropped = 0
        var rejections: [DeadLetter] = []
        func take(_ item: InboxItem) {
            guard let record = try? InboxRecord(item),
                record.modules?.contains(where: { $0 == range.slot.id }) ?? true
            else { return }
            rejections.append(
                rejection(of: item, id: record.id, for: range.slot.id.map { [$0] }, reason))
        }
        for begun in range.begun {
            if let item = try reader.read(at: begun) { take(item) }
        }
        if var position = range.places?.lowerBound, let end = range.places?.upperBound {
            while position < end, let item = try reader.read(at: position), item.position < end {
                let isSkipped = inbox.skipped.withLock { $0.contains(item.position) }
                if !isSkipped, !range.excluded.contains(item.position) { take(item) }
                position = item.end
                if rejections.count >= 1024 {
                    try inbox.reject(rejections)
                    dropped += rejections.count
                    rejections = []
                }
            }
        }
        try inbox.reject(rejections)
        return dropped + rejections.count
    }
}
