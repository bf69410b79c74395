internal import AppService

/// One parsed line of the inbox: an event to be delivered, with its delivery options.
///
/// ```
/// {"event":"push","payload":{"aps":{"badge":3}},"id":"order-17","time":"2026-03-01T09:41:00Z"}
/// ```
///
/// Only `event` is always required, and `payload` according to the event. Any other member than these and
/// those named here is an error.
package struct InboxRecord: Sendable {
    /// The event; its origin is the inbox.
    package let event: LifecycleEvent
    /// `payload` as it was sent.
    ///
    /// The event's own payload may lack a secret.
    package let payload: JSONValue?
    /// `id`, 1 to 200 bytes: an event whose id an earlier one has is not delivered again.
    package let id: String?
    /// `time`, the time of the event, as its sender gives it; the host does not use it.
    package let time: String?
    /// `modules`: the only modules that are to receive it; nil for all.
    package let modules: [ModuleID]?
    /// `source`, 1 to 64 bytes: the place that the event comes from, in its sender's words.
    package let source: String?
    /// `traceparent`: the trace that it is a part of, as in W3C Trace Context.
    package var trace: TraceContext? { event.trace }
    /// `retried`: whether the event is delivered although its id was seen before.
    package let isRetried: Bool

    /// The longest id, in bytes of UTF-8.
    package static let longestID = 200
    /// The longest source, in bytes of UTF-8.
    package static let longestSource = 64

    private static let members = [
        "event", "payload", "id", "time", "source", "traceparent", "modules", "retried",
    ]
}

// MARK: Reading

extension InboxRecord {
    /// Parses a line, without its newline, of any bytes.
    ///
    /// - Throws: Every error in it.
    package init(parsing line: ArraySlice<UInt8>) throws(InboxRecordError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: Array(line))
        } catch {
            throw InboxRecordError(.json(Self.text(of: error)))
        }
        guard value.kind == .object else { throw InboxRecordError(.notObject(value.inWords)) }
        var reader = MemberReader(value)
        let event = reader.event()
        id = reader.text("id", atMost: Self.longestID) { .id($0) }
        time = reader.time()
        source = reader.text("source", atMost: Self.longestSource) { .source($0) }
        let trace = reader.trace()
        modules = reader.modules()
        isRetried = reader.isRetried()
        payload = value["payload"]
        guard let event, reader.diagnostics.isEmpty else {
            throw InboxRecordError(reader.diagnostics)
        }
        self.event = event.traced(by: trace)
    }

    /// Returns the description of an error in a line, without the number of the line.
    private static func text(of error: JSONError) -> String {
        error.diagnostics.first.map { "column \($0.place.column): \($0.message)" } ?? "no value"
    }

    /// A reader that splits a record into its members, and notes the error of each.
    private struct MemberReader {
        let value: JSONValue
        var diagnostics: [InboxRecordError.Reason] = []

        init(_ value: JSONValue) {
            self.value = value
            // A line of a mebibyte has room for many members.
            for member in value.members.lazy.filter({ !members.contains($0.key) }).prefix(8) {
                diagnostics.append(
                    .unknownMember(member.key, nearest: nearestName(to: member.key, in: members)))
            }
        }

        mutating func event() -> LifecycleEvent? {
            guard let name = value["event"] else { return note(.eventMissing) }
            guard let text = name.string else { return note(.eventNotString(name.inWords)) }
            guard let kind = EventKind(rawValue: text) else {
                let names = EventKind.allCases.filter(\.isDurable).map(\.rawValue)
                return note(.unknownEvent(text, nearest: nearestName(to: text, in: names)))
            }
            guard kind.isDurable else { return note(.notDurable(kind)) }
            do throws(EventError) {
                return try LifecycleEvent(kind, payload: value["payload"], origin: .inbox)
            } catch {
                return note(.event(error))
            }
        }

        /// Reads a member that is text of at least one byte.
        mutating func text(
            _ member: String, atMost longest: Int, _ error: (String) -> InboxRecordError.Reason
        ) -> String? {
            guard let found = value[member] else { return nil }
            guard let text = found.string, 1...longest ~= text.utf8.count else {
                return note(error(found.inWords))
            }
            return text
        }

        mutating func trace() -> TraceContext? {
            guard let given = value["traceparent"] else { return nil }
            return given.string.flatMap { TraceContext($0) } ?? note(.trace(given.inWords))
        }

        mutating func time() -> String? {
            guard let time = value["time"] else { return nil }
            guard let text = time.string, DateTime(text) != nil else {
                return note(.time(time.inWords))
            }
            return text
        }

        mutating func modules() -> [ModuleID]? {
            guard let list = value["modules"] else { return nil }
            guard list.kind == .array, list.count > 0 else {
                return note(.modules(list.kind == .array ? "an empty one" : list.inWords))
            }
            var modules: [ModuleID] = []
            for element in list.elements {
                guard let text = element.string else { return note(.modules(element.inWords)) }
                do throws(ModuleID.ParsingError) { modules.append(try ModuleID(text)) } catch {
                    return note(.moduleID(error))
                }
            }
            return modules
        }

        mutating func isRetried() -> Bool {
            guard let retried = value["retried"] else { return false }
            return retried.bool ?? note(.retried(retried.inWords)) ?? false
        }

        private mutating func note<Value>(_ error: InboxRecordError.Reason) -> Value? {
            diagnostics.append(error)
            return nil
        }
    }
}

// MARK: Writing

extension InboxRecord {
    /// Writes the line of an event, without its newline.
    ///
    /// Whether the event can take the payload is not checked here.
    package static func line(
        _ kind: EventKind, payload: JSONValue?, id: String? = nil, time: String? = nil,
        source: String? = nil, trace: TraceContext? = nil, modules: [ModuleID]? = nil,
        isRetried: Bool = false
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("event", kind.rawValue)
            if let payload { $0.member("payload", raw: payload.textBytes) }
            if let id { $0.member("id", id) }
            if let time { $0.member("time", time) }
            if let source { $0.member("source", source) }
            if let trace { $0.member("traceparent", trace.text) }
            if let modules { $0.member("modules", modules) }
            if isRetried { $0.member("retried", true) }
        }
        return json.bytes
    }

    /// Returns the line that makes this event be delivered once more.
    ///
    /// - Parameter modules: The only modules that are to receive it; nil for those that the record names
    ///   itself.
    /// - Returns: The line, without its newline.
    package func lineForRetry(for modules: [ModuleID]? = nil) -> [UInt8] {
        Self.line(
            event.kind, payload: payload, id: id, time: time, source: source, trace: trace,
            modules: modules ?? self.modules, isRetried: true)
    }
}
