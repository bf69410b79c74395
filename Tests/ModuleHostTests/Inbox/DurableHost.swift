import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

extension HostUnderTest {
    /// A host with an inbox whose modules note each durable event: `b 1:0#2` is module `b` that
    /// receives the event at 1:0 for the second time.
    static func durable(
        _ names: String..., in folder: TemporaryFolder, more: [String: String] = [:],
        limits: Inbox.Limits = Inbox.Limits(), sizes: InboxLimits = InboxLimits(), probe: Probe
    ) throws -> HostUnderTest {
        for name in names {
            for kind in ["push", "message"] where !probe.hasAct("\(name) \(kind)") {
                probe.when("\(name) \(kind)") { $0.noteEvent() }
            }
        }
        return try HostUnderTest(
            names.map { Entry(name: $0, more: more[$0] ?? "") }, folder: folder, limits: limits,
            sizes: sizes, probe: probe)
    }

    /// Hands a push in, and waits until it is accepted.
    func accept(_ id: String? = nil) async -> EventPosition? {
        let fate = Promise<EventPosition?>()
        submit(id) {
            if case .accepted(let place) = $0 { fate.keep(place) } else { fate.keep(nil) }
        }
        return await fate.value
    }

    /// Hands a push in, and waits for what comes of it.
    func outcome(_ id: String? = nil) async -> InboxSubmission.DeliveryResult? {
        let outcome = Promise<InboxSubmission.DeliveryResult?>()
        submit(id) {
            if case .accepted = $0 { return }
            outcome.keep(nil)
        } onDelivery: {
            outcome.keep($0)
        }
        return await outcome.value
    }

    func submit(
        _ id: String? = nil, onAcceptance: @escaping @Sendable (InboxSubmission.Acceptance) -> Void,
        onDelivery: (@Sendable (InboxSubmission.DeliveryResult) -> Void)? = nil
    ) {
        inbox?.submit(
            InboxSubmission(
                line: HostUnderTest.push(id), id: id, onAcceptance: onAcceptance,
                onDelivery: onDelivery))
    }

    /// The line of a push.
    static func push(_ id: String? = nil) -> [UInt8] {
        let payload = try? JSONValue(parsing: Array(#"{"aps":{}}"#.utf8))
        return InboxRecord.line(.push, payload: payload, id: id)
    }
}

extension ProbeModule {
    /// Notes the current durable event.
    func noteEvent() {
        guard let event = context.event, let position = event.position else { return }
        probe?.note("\(name) \(position)#\(event.attempt)")
    }
}

extension Probe {
    /// The durable events that one module, or all, received.
    func received(_ name: String) -> [String] {
        entries(name).compactMap { entry in
            entry.contains("#") ? String(entry.split(separator: " ")[1]) : nil
        }
    }
}

extension TemporaryFolder {
    /// Another program that appends to the inbox of the host whose state directory this is.
    func inboxWriter() throws -> InboxWriter {
        try InboxWriter(InboxFolder(in: StateDirectory(path: path)))
    }

    /// Another folder with the files as they are now: what a host that is killed at this instant
    /// leaves.
    func copied() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        // What is about to take the place of the cursor may be gone before it is copied.
        let inbox = TemporaryFolder.list(path("inbox")).filter { !$0.hasSuffix(".tmp") }
        try makeFolders(copy.path("inbox"))
        for name in inbox.map({ "inbox/\($0)" }) + ["blackbox"] {
            let bytes = try readFile(at: path(name), limit: 1 << 30)
            try writeFile(bytes, to: copy.path(name), mode: 0o600)
        }
        return copy
    }

    private static func list(_ path: String) -> [String] {
        (try? namesInFolder(path)) ?? []
    }
}

/// The name of the calling thread.
func threadName() -> String {
    let name = (try? readFile(at: "/proc/thread-self/comm", limit: 64)) ?? []
    return String(decoding: name.dropLast(), as: UTF8.self)
}
