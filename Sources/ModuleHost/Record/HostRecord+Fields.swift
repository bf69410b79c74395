/// A fact in flat form, as a slot of the record's file has it.
struct RecordFields {
    /// The number of the kind of thing, never reused for another.
    var code: UInt8
    var numbers = SIMD4<Int64>()
    /// A short text, which is kept whole or not at all, such as an id.
    var name = ""
    /// A text that is cut where it does not fit.
    var text = ""
    var topic = ""
    /// A text that is kept whole or not at all: who has sent an event, or calls.
    var sender = ""
    /// The id of a trace, its first half first, the delivery or call, and the one in which it happened; zero for none.
    var trace = SIMD4<UInt64>()
}

extension HostRecord.Fact {
    /// Whether it belongs to the deliveries, which come so often that they have a part of the file to themselves.
    var isFrequent: Bool {
        switch self {
        case .delivered, .handled, .sent, .called, .requestsFailed, .threw: true
        default: false
        }
    }

    var fields: RecordFields {
        switch self {
        case .started(let version, let process):
            RecordFields(code: 1, numbers: [Int64(process), 0, 0, 0], text: version)
        case .lastHostDied(let text): RecordFields(code: 2, text: text)
        case .ready(let time, let modules):
            RecordFields(code: 3, numbers: [time.whole, Int64(modules), 0, 0])
        case .signal(let name): RecordFields(code: 4, text: name)
        case .reload(let outcome, let summary):
            RecordFields(code: 5, name: outcome, text: summary)
        case .stopping(let reason): RecordFields(code: 6, text: reason)
        case .ended(let reason):
            RecordFields(code: 7, numbers: [reason == nil ? 0 : 1, 0, 0, 0], text: reason ?? "")
        case .created: RecordFields(code: 8)
        case .launched: RecordFields(code: 9)
        case .failed(let reason, let need):
            RecordFields(code: 10, name: need?.text ?? "", text: reason)
        case .unresponsive(let place): RecordFields(code: 11, text: place)
        case .responsive(let missed):
            RecordFields(code: 12, numbers: [Int64(missed), 0, 0, 0])
        case .done: RecordFields(code: 13)
        case .unloaded: RecordFields(code: 14)
        case .restarting(let delay): RecordFields(code: 15, numbers: [delay.whole, 0, 0, 0])
        case .processStarted(let process):
            RecordFields(code: 16, numbers: [Int64(process), 0, 0, 0])
        case .processEnded(let text): RecordFields(code: 17, text: text)
        case .threw(let kind, let error):
            RecordFields(code: 18, numbers: [Int64(kind.facts.code), 0, 0, 0], text: error)
        case .task(let name, let outcome, let time):
            RecordFields(code: 19, numbers: [time.whole, 0, 0, 0], name: name, text: outcome)
        case .delivered(let delivery): delivery.fields
        case .handled(let handling): handling.fields
        case .sent(let sending): sending.fields
        case .called(let call): call.fields
        case .requestsFailed(let count, let last, let process):
            RecordFields(code: 22, numbers: [Int64(count), Int64(process), 0, 0], text: last)
        }
    }

    /// Returns the fact of some fields; nil for those that no host of this version writes.
    init?(_ fields: RecordFields) {
        let (first, second) = (fields.numbers[0], fields.numbers[1])
        switch fields.code {
        case 1: self = .started(version: fields.text, processID: Int(first))
        case 2: self = .lastHostDied(fields.text)
        case 3: self = .ready(after: .nanoseconds(max(0, first)), modules: Int(second))
        case 4: self = .signal(fields.text)
        case 5: self = .reload(outcome: fields.name, summary: fields.text)
        case 6: self = .stopping(reason: fields.text)
        case 7: self = .ended(reason: first == 0 ? nil : fields.text)
        case 8: self = .created
        case 9: self = .launched
        case 10: self = .failed(reason: fields.text, need: try? ModuleID(fields.name))
        case 11: self = .unresponsive(in: fields.text)
        case 12: self = .responsive(missed: Int(first))
        case 13: self = .done
        case 14: self = .unloaded
        case 15: self = .restarting(in: .nanoseconds(max(0, first)))
        case 16: self = .processStarted(Int(first))
        case 17: self = .processEnded(fields.text)
        case 18:
            guard let kind = EventKind(recorded: first) else { return nil }
            self = .threw(in: kind, error: fields.text)
        case 19:
            self = .task(fields.name, outcome: fields.text, .nanoseconds(max(0, first)))
        case 20:
            guard let delivery = HostRecord.Delivery(fields) else { return nil }
            self = .delivered(delivery)
        case 21: self = .called(HostRecord.Call(fields))
        case 22: self = .requestsFailed(Int(first), last: fields.text, processID: Int(second))
        case 23:
            guard let handling = HostRecord.Handling(fields) else { return nil }
            self = .handled(handling)
        case 24:
            guard let sending = HostRecord.Sending(fields) else { return nil }
            self = .sent(sending)
        default: return nil
        }
    }
}

extension HostRecord.Sending {
    fileprivate var fields: RecordFields {
        RecordFields(
            code: 24,
            numbers: [Int64(kind.facts.code), Int64(bitPattern: position.rawValue), 0, 0],
            name: id ?? "", topic: topic ?? "", trace: trace.words)
    }

    fileprivate init?(_ fields: RecordFields) {
        guard let kind = EventKind(recorded: fields.numbers[0]),
            let position = EventPosition(rawValue: UInt64(bitPattern: fields.numbers[1]))
        else { return nil }
        self.init(
            kind: kind, topic: fields.topic.isEmpty ? nil : fields.topic,
            id: fields.name.isEmpty ? nil : fields.name, position: position,
            trace: TraceSpan(fields.trace))
    }
}

extension HostRecord.Handling {
    fileprivate var fields: RecordFields {
        RecordFields(
            code: 23,
            numbers: [
                Int64(kind.facts.code), Int64(bitPattern: position?.rawValue ?? 0), duration.whole,
                0,
            ], name: id ?? "", topic: topic ?? "", trace: trace.words)
    }

    fileprivate init?(_ fields: RecordFields) {
        guard let kind = EventKind(recorded: fields.numbers[0]) else { return nil }
        self.init(
            kind: kind, topic: fields.topic.isEmpty ? nil : fields.topic,
            id: fields.name.isEmpty ? nil : fields.name,
            position: EventPosition(rawValue: UInt64(bitPattern: fields.numbers[1])),
            duration: .nanoseconds(max(0, fields.numbers[2])), trace: TraceSpan(fields.trace))
    }
}

extension HostRecord.Delivery {
    fileprivate var fields: RecordFields {
        RecordFields(
            code: 20,
            numbers: [
                Int64(kind.facts.code), Int64(bitPattern: position?.rawValue ?? 0), duration.whole,
                Self.packed(received, failed, unresponsive),
            ], name: id ?? "", topic: topic ?? "", sender: sender?.text ?? "",
            trace: trace.words)
    }

    fileprivate init?(_ fields: RecordFields) {
        guard let kind = EventKind(recorded: fields.numbers[0]) else { return nil }
        self.kind = kind
        position = EventPosition(rawValue: UInt64(bitPattern: fields.numbers[1]))
        duration = .nanoseconds(max(0, fields.numbers[2]))
        let counts = UInt64(bitPattern: fields.numbers[3])
        received = Int(counts & 0xFFFF)
        failed = Int(counts >> 16 & 0xFFFF)
        unresponsive = Int(counts >> 32 & 0xFFFF)
        id = fields.name.isEmpty ? nil : fields.name
        topic = fields.topic.isEmpty ? nil : fields.topic
        sender = try? ModuleID(fields.sender)
        trace = TraceSpan(fields.trace)
    }

    /// An app has fewer than 65,536 modules.
    private static func packed(_ received: Int, _ failed: Int, _ unresponsive: Int) -> Int64 {
        Int64(UInt16(clamping: received)) | Int64(UInt16(clamping: failed)) << 16
            | Int64(UInt16(clamping: unresponsive)) << 32
    }
}

extension HostRecord.Call {
    fileprivate var fields: RecordFields {
        RecordFields(
            code: 21, numbers: [duration.whole, 0, 0, 0], name: excerpt(target, limit: 100),
            text: failure ?? "", sender: excerpt(caller), trace: trace.words)
    }

    fileprivate init(_ fields: RecordFields) {
        duration = .nanoseconds(max(0, fields.numbers[0]))
        (target, caller) = (fields.name, fields.sender)
        failure = fields.text.isEmpty ? nil : fields.text
        trace = TraceSpan(fields.trace)
    }
}

extension TraceSpan {
    fileprivate init?(_ words: SIMD4<UInt64>) {
        guard let trace = TraceID(words.lowHalf) else { return nil }
        self.init(trace, id: words[2], parent: words[3])
    }
}

extension TraceSpan? {
    fileprivate var words: SIMD4<UInt64> {
        map { SIMD4(lowHalf: $0.trace.id, highHalf: [$0.id, $0.parent]) } ?? .zero
    }
}

extension Duration {
    fileprivate var whole: Int64 { Int64(wholeNanoseconds) }
}

extension EventKind {
    fileprivate init?(recorded code: Int64) {
        guard let kind = Self.allCases.first(where: { Int64($0.facts.code) == code }) else {
            return nil
        }
        self = kind
    }
}
