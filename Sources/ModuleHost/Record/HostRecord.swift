import AppService

/// One thing that happened in a host, as its record keeps it.
///
/// Never a payload, a parameter, the query of a URL or a token.
package struct HostRecord: Hashable, Sendable {
    package var time: WallTime
    /// The module to which it happened; nil for the host.
    package var module: ModuleID?
    package var fact: Fact

    package init(time: WallTime, module: ModuleID? = nil, _ fact: Fact) {
        (self.time, self.module, self.fact) = (time, module, fact)
    }

    /// The kinds of things, each with what is known about it.
    package enum Fact: Hashable, Sendable {
        // The host.
        case started(version: String, processID: Int)
        /// The host found that the one before it had died.
        case lastHostDied(String)
        case ready(after: Duration, modules: Int)
        case signal(String)
        case reload(outcome: String, summary: String)
        case stopping(reason: String)
        /// The host has ended; the reason unless it was asked to.
        case ended(reason: String?)
        // A module.
        case created
        case launched
        case failed(reason: String, need: ModuleID?)
        /// The module did not return in time from an event, or from what the text names.
        case unresponsive(in: String)
        case responsive(missed: Int)
        case done
        case unloaded
        case restarting(in: Duration)
        case processStarted(Int)
        case processEnded(String)
        /// A handler of an event threw.
        case threw(in: EventKind, error: String)
        /// A start-up task that took long, or did not succeed.
        case task(String, outcome: String, Duration)
        /// A delivery of an event.
        case delivered(Delivery)
        /// The part of a delivery that one module took, which was long.
        case handled(Handling)
        /// A durable event of a trace that a module has sent; it is delivered in its turn.
        case sent(Sending)
        /// A call from outside the app.
        case called(Call)
        /// Requests of the control socket that failed, so many that the log has only the last one of them.
        case requestsFailed(Int, last: String, processID: Int)
    }

    /// A delivery of an event to its receivers.
    package struct Delivery: Hashable, Sendable {
        package var kind: EventKind
        /// The topic of a message.
        package var topic: String?
        /// The id that the sender of a durable event gave it.
        package var id: String?
        package var position: EventPosition?
        package var duration: Duration
        /// The numbers of modules that received it, that threw, and that were unresponsive.
        package var received = 0
        package var failed = 0
        package var unresponsive = 0
        /// The module that sent the event; nil for an event from outside.
        package var sender: ModuleID?
        package var trace: TraceSpan?
    }

    /// The part of a delivery that one module took.
    package struct Handling: Hashable, Sendable {
        package var kind: EventKind
        /// The topic of a message.
        package var topic: String?
        /// The id that the sender of a durable event gave it.
        package var id: String?
        package var position: EventPosition?
        /// The time of its handlers, until its answer if that came later.
        package var duration: Duration
        package var trace: TraceSpan?
    }

    /// An event that a module has put into the inbox.
    package struct Sending: Hashable, Sendable {
        package var kind: EventKind
        /// The topic of a message.
        package var topic: String?
        /// The id that the module gave it.
        package var id: String?
        package var position: EventPosition
        package var trace: TraceSpan?
    }

    /// A call of a route, with its answer.
    package struct Call: Hashable, Sendable {
        /// The module and the action, or of a URL the part before its path.
        package var target: String
        /// The origin of the call in words.
        package var caller: String
        /// The time until the answer.
        package var duration: Duration
        /// The reason why the call failed; nil for one that did not.
        package var failure: String?
        package var trace: TraceSpan?
    }

    /// The trace that it is a part of, and its place there.
    var trace: TraceSpan? {
        switch fact {
        case .delivered(let delivery): delivery.trace
        case .handled(let handling): handling.trace
        case .sent(let sending): sending.trace
        case .called(let call): call.trace
        default: nil
        }
    }
}

extension HostRecord {
    /// The thing in words, which follow the name of the module if there is one.
    package var text: String {
        switch fact {
        case .started(let version, let process): "host \(version) started, process \(process)"
        case .lastHostDied(let text): text
        case .ready(let time, let modules):
            "ready after \(time.briefText), \(modules) \(modules == 1 ? "module runs" : "modules run")"
        case .signal(let text): text
        case .reload(let outcome, let summary):
            "reload \(outcome)" + (summary == outcome ? "" : ": \(summary)")
        case .stopping(let reason): "stopping: \(reason)"
        case .ended(let reason): reason.map { "ended: \($0)" } ?? "stopped"
        case .created: "created"
        case .launched: "launched"
        case .failed(let reason, _): "failed: \(reason)"
        case .unresponsive(let place): "unresponsive in '\(place)'"
        case .responsive(let missed):
            missed == 0 ? "responsive again" : "responsive again; it missed \(missed) events"
        case .done: "done"
        case .unloaded: "unloaded"
        case .restarting(let delay): "restarting in \(delay.briefText)"
        case .processStarted(let process): "process \(process) started"
        case .processEnded(let text): text
        case .threw(let kind, let error): "'\(kind.rawValue)' failed: \(error)"
        case .task(let name, let outcome, let time):
            "start-up task \(name) \(outcome) after \(time.briefText)"
        case .delivered(let delivery): delivery.text
        case .handled(let handling): handling.text
        case .sent(let sending): sending.text
        case .called(let call): call.text
        case .requestsFailed(let count, let last, _): "\(count) requests failed, the last: \(last)"
        }
    }

    /// The word that stands for the kind of thing in JSON.
    private var word: String {
        switch fact {
        case .started: "started"
        case .lastHostDied: "last-host-died"
        case .ready: "ready"
        case .signal: "signal"
        case .reload: "reload"
        case .stopping: "stopping"
        case .ended: "ended"
        case .created: "created"
        case .launched: "launched"
        case .failed: "failed"
        case .unresponsive: "unresponsive"
        case .responsive: "responsive"
        case .done: "done"
        case .unloaded: "unloaded"
        case .restarting: "restarting"
        case .processStarted: "process-started"
        case .processEnded: "process-ended"
        case .threw: "threw"
        case .task: "start-up-task"
        case .delivered: "delivered"
        case .handled: "took"
        case .sent: "sent"
        case .called: "called"
        case .requestsFailed: "requests-failed"
        }
    }

    /// Writes it as members of an object.
    func writeMembers(to json: inout JSONWriter) {
        json.member("time", time.iso8601)
        if let module { json.member("module", module.text) }
        json.member("what", word)
        json.member("text", text)
        switch fact {
        case .failed(_, let need?): json.member("failedNeed", need.text)
        case .ready(let time, _), .restarting(let time):
            json.member("ms", millisecondsOf: time.wholeNanoseconds)
        case .task(let name, let outcome, let time):
            json.member("task", name)
            json.member("outcome", outcome)
            json.member("ms", millisecondsOf: time.wholeNanoseconds)
        case .started(_, let process): json.member("pid", process)
        case .delivered(let delivery): delivery.write(to: &json)
        case .handled(let handling): handling.write(to: &json)
        case .sent(let sending): sending.write(to: &json)
        case .called(let call): call.write(to: &json)
        default: break
        }
    }
}

extension JSONWriter {
    /// Writes which event an entry is about.
    fileprivate mutating func members(
        ofEvent kind: EventKind, _ topic: String?, _ id: String?, _ position: EventPosition?
    ) {
        member("event", kind.rawValue)
        if let topic { member("topic", topic) }
        if let id { member("id", id) }
        if let position { member("position", position.description) }
    }
}

extension HostRecord.Delivery {
    fileprivate var text: String {
        let topic = topic.map { " \($0)" } ?? ""
        let place = position.map { ", inbox \($0)" } ?? ""
        let id = id.map { ", id \($0)" } ?? ""
        let sender = sender.map { " of \($0)" } ?? ""
        var text = "\(kind.rawValue)\(topic)\(sender) took \(duration.briefText)\(place)\(id): "
        text += received == 1 ? "1 module" : "\(received) modules"
        if failed > 0 { text += ", \(failed) failed" }
        if unresponsive > 0 { text += ", \(unresponsive) unresponsive" }
        return text
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.members(ofEvent: kind, topic, id, position)
        json.member("ms", millisecondsOf: duration.wholeNanoseconds)
        json.member("delivered", received)
        json.member("failed", failed)
        json.member("unresponsive", unresponsive)
        if let sender { json.member("sender", sender.text) }
        trace?.write(to: &json)
    }
}

extension HostRecord.Handling {
    fileprivate var text: String {
        let topic = topic.map { " \($0)" } ?? ""
        let place = position.map { ", inbox \($0)" } ?? ""
        let id = id.map { ", id \($0)" } ?? ""
        return "took \(duration.briefText) for \(kind.rawValue)\(topic)\(place)\(id)"
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.members(ofEvent: kind, topic, id, position)
        json.member("ms", millisecondsOf: duration.wholeNanoseconds)
        trace?.write(to: &json)
    }
}

extension HostRecord.Sending {
    fileprivate var text: String {
        let topic = topic.map { " \($0)" } ?? ""
        let id = id.map { ", id \($0)" } ?? ""
        return "sent \(kind.rawValue)\(topic), inbox \(position)\(id)"
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.members(ofEvent: kind, topic, id, position)
        trace?.write(to: &json)
    }
}

extension HostRecord.Call {
    fileprivate var text: String {
        "call of \(target) by \(caller) took \(duration.briefText)"
            + (failure.map { ", and failed: \($0)" } ?? "")
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("target", target)
        json.member("caller", caller)
        json.member("ms", millisecondsOf: duration.wholeNanoseconds)
        if let failure { json.member("failure", failure) }
        trace?.write(to: &json)
    }
}
