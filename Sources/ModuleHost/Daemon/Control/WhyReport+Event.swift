import AppService

extension WhyReport {
    /// Creates the report about an event of the inbox, from the files of a state directory.
    ///
    /// - Parameters:
    ///   - name: The position of the event, or the id that its sender gave it.
    ///   - directory: The state directory.
    ///   - isRunning: Whether a host runs on it.
    ///   - program: The name of the host's program.
    ///   - now: The time.
    /// - Returns: Nil where the inbox has no such event.
    /// - Throws: ``InboxError/unusable(_:)`` where the files cannot be read.
    package static func event(
        _ name: String, in directory: StateDirectory, isRunning: Bool, program: String,
        at now: WallTime
    ) throws(InboxError) -> WhyReport? {
        guard let story = try EventStory.find(name, in: directory, isRunning: isRunning)
        else { return nil }
        let record = RecordContents(in: directory)
        var report = WhyReport(isRunning: isRunning, story.title, at: now)
        let most = story.trace == nil ? entries : tracedEntries
        report.record = record?.last(most) { story.isMeant(by: $0) } ?? []
        report.hasCauses = story.trace != nil
        report.findings = story.findings(isRunning, program)
        let failed = report.record.compactMap { entry -> Int? in
            guard case .delivered(let delivery) = entry.fact, delivery.position == story.position
            else { return nil }
            return delivery.failed
        }.last
        if story.fate == .done, let failed, failed > 0 {
            report.findings[0].reason? +=
                "; \(failed == 1 ? "one of them" : "\(failed) of them") failed in it, and is not notified again"
        }
        if story.fate == .done, report.record.isEmpty, let oldest = record?.oldest {
            report.findings[0].reason? +=
                "; the record, which goes back to \(oldest.time.iso8601), has no slow or failed "
                + "delivery of it"
        }
        report.event = story
        return report
    }
}

extension EventStory {
    /// The event in one line.
    fileprivate var title: String {
        let kind = kind?.rawValue ?? "the event"
        var text = kind + (topic.map { " \($0)" } ?? "") + " at \(position) of the inbox"
        if let id { text += ", id \(quoted(id))" }
        if let source { text += ", from \(quoted(source))" }
        if let time { text += ", of \(time)" }
        return text
    }

    /// Returns whether an entry of the record is about the event, or about what is a part of the same trace.
    fileprivate func isMeant(by entry: HostRecord) -> Bool {
        if let trace, entry.trace?.trace == trace { return true }
        // After the removal of an inbox the next one has the same positions.
        return switch entry.fact {
        case .delivered(let delivery):
            delivery.position == position && (delivery.id == nil || delivery.id == id)
        case .handled(let handling):
            handling.position == position && (handling.id == nil || handling.id == id)
        default: false
        }
    }

    /// The word that stands for the fate.
    private var word: String {
        switch fate {
        case .pending: "pending"
        case .inHand: "being handled"
        case .awaited: "not handled yet"
        case .unanswered: "not answered yet"
        case .duplicate: "duplicate"
        case .retried: "retried"
        case .invalid: "not an event"
        case .deadLetter: "dead letter"
        case .done: "done"
        case .removed: "not in the inbox any more"
        }
    }

    /// Returns what is to say: of its dead letter, and of what it is for other modules.
    fileprivate func findings(_ isRunning: Bool, _ program: String) -> [WhyReport.Finding] {
        guard let letter else { return [finding(isRunning, program)] }
        var dead = WhyReport.Finding(nil, "dead letter")
        dead.since = WallTime(letter.time)
        let those = letter.modules.map { "for \($0.map(\.text).shortList()): " } ?? ""
        dead.reason = those + letter.reason
        dead.command = "\(program) inbox \(kind == nil ? "drop" : "retry") \(position)"
        switch fate {
        case .deadLetter, .invalid, .done, .removed: return [dead]
        default: return [dead, finding(isRunning, program)]
        }
    }

    private func finding(_ isRunning: Bool, _ program: String) -> WhyReport.Finding {
        var finding = WhyReport.Finding(nil, word)
        let start = isRunning ? nil : "\(program) run"
        switch fate {
        case .pending(let before):
            finding.reason =
                switch before {
                case 0: "it is the next one"
                case 1: "one event is before it"
                case Self.mostBefore: "\(before) events or more are before it"
                default: "\(before) events are before it"
                }
            finding.next = isRunning ? nil : "it is delivered when a host starts"
            finding.command = start ?? "\(program) why"
        case .inHand(let module):
            let name = module.map(\.text) ?? "the host"
            finding.reason =
                isRunning
                ? "\(name) has it; the modules behind that one have yet to receive it"
                : "the host died while \(name) had it"
            finding.next = isRunning ? nil : "it is delivered again when a host starts"
            finding.command = start ?? "\(program) why" + (module.map { " \($0)" } ?? "")
        case .awaited(let modules):
            finding.reason =
                "\(modules.map(\.text).shortList()) \(modules.count == 1 ? "has" : "have") yet to "
                + "handle it, or to come to it; all other modules are past it"
            finding.next = isRunning ? nil : "it is delivered to them when a host starts"
            finding.command = start ?? modules.first.map { "\(program) why \($0)" }
        case .unanswered:
            finding.reason = "the module that takes its URL has not answered"
            finding.next = isRunning ? nil : "it is delivered again when a host starts"
            finding.command = start ?? "\(program) why"
        case .duplicate(let first):
            finding.reason = "the event at \(first) has the same id, so this one is not delivered"
            finding.command = "\(program) why \(first)"
        case .retried(let later):
            finding.reason = "it was a dead letter, and was sent once more: it is at \(later)"
            finding.command = "\(program) why \(later)"
        case .invalid(let error):
            finding.reason = error
            finding.next = "it becomes a dead letter at its turn, unless it was one and was dropped"
        case .done:
            finding.reason =
                "each module that it was for has received it, or it was dropped from the dead letters"
        case .deadLetter, .removed:
            finding.reason =
                "the log begins behind it: it was handled, or dropped from the dead letters"
        }
        if attempts > 0 {
            finding.reason? +=
                "; its delivery was begun \(attempts == 1 ? "once" : "\(attempts) times") and not ended"
        }
        return finding
    }

    /// Writes the event as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("position", position.description)
            if let kind { $0.member("event", kind.rawValue) }
            if let topic { $0.member("topic", topic) }
            if let id { $0.member("id", id) }
            if let source { $0.member("source", source) }
            if let time { $0.member("time", time) }
            if let trace { $0.member("trace", trace.text) }
            if attempts > 0 { $0.member("attempts", attempts) }
            switch fate {
            case .pending(let before): $0.member("before", before)
            case .inHand(let module?): $0.member("module", module.text)
            case .awaited(let modules): $0.member("modules", modules)
            case .duplicate(let first): $0.member("duplicateOf", first.description)
            case .retried(let later): $0.member("retriedAs", later.description)
            case .inHand, .invalid, .deadLetter, .unanswered, .done, .removed: break
            }
            if let modules = letter?.modules { $0.member("deadLetterOf", modules) }
        }
    }
}
