import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("An embedded host with an inbox and a control socket", .timeLimit(.minutes(10)))
struct EmbeddedPartsTests {
    /// A module that logs the orders that it receives, and does not return from the first one called `stuck`.
    private final class Orders: MessageResponder, RootProvider {
        static let isReleased = Latch()
        let topics = ["ordered"]
        private let context: ModuleContext

        init(context: ModuleContext) { self.context = context }

        var root: String? { nil }

        func receive(_ message: Message) {
            guard let event = context.event, let id = event.id else { return }
            context.log.notice(event.isRepeated ? "\(id) again" : id)
            if id == "stuck", !event.isRepeated { Self.isReleased.wait() }
        }
    }

    private let folder: TemporaryFolder
    private let order: JSONValue

    init() throws {
        folder = try TemporaryFolder()
        order = try JSONValue(parsing: #"{ "topic": "ordered" }"#)
    }

    private func slatefile(_ deadlines: String = "") -> String {
        let entry = EntryUse.entry(of: Orders.self)
        return """
            { "slate": 1, "app": "shop", "deadlines": { "event": "1h"\(deadlines) }, "modules": [
              { "id": "com.mm.orders", "entry": "\(entry)", "main": true },
              { "id": "com.mm.copy", "entry": "\(entry)", "enabled": true }
            ] }
            """
    }

    private func host(
        _ deadlines: String = "", hasInbox: Bool = true, hasControlSocket: Bool = true,
        log: LogRecorder = LogRecorder()
    ) throws -> AppHost {
        try AppHost(
            slatefile: slatefile(deadlines),
            settings: .init(
                stateDirectory: folder.path, hasInbox: hasInbox,
                hasControlSocket: hasControlSocket)
        ) { log.write($0) }
    }

    private func disable(_ module: String) throws {
        try folder.write(#"{"modules":["\#(module)"]}"#, to: "disabled.json")
    }

    @Test("a client of the socket stops it: run() returns, and its socket is gone")
    func stopped() async throws {
        try disable("com.mm.copy")
        let host = try host()
        let run = Task { try await host.run() }
        try await host.post("begun")
        #expect(try await host.modules().map(\.id.text) == ["com.mm.orders"])
        let client = try HostClient(stateDirectory: folder.path)
        let status = try await client.status()
        #expect(status["app"]?.string == "shop")
        #expect(status["disabled"]?.text == #"["com.mm.copy"]"#)
        // It was created from a text.
        #expect(status["slatefile"] == nil)
        await #expect(throws: HostClientError.self) { try await client.stop(now: true) }
        #expect(try await client.stop()["outcome"]?.string == "stopped")
        try await run.value
        #expect(
            folder.names == [
                "blackbox", "disabled.json", "hostd.pid", "inbox", "launches.ndjson", "record",
            ])
        #expect(try folder.text(of: "hostd.pid") == "")
    }

    @Test("an event that is sent while the host starts is delivered, once")
    func sent() async throws {
        let log = LogRecorder()
        let first = try host(hasControlSocket: false, log: log)
        let sent = Task { [order] in try await first.send(.message, payload: order, id: "one") }
        let run = Task { try await first.run() }
        guard case .accepted(let position) = try await sent.value else {
            Issue.record("it was not accepted")
            return
        }
        #expect("\(position)" == "1:1")
        #expect(!folder.names.contains("control.sock"))
        #expect(try await first.send(.message, payload: order, id: "one") == .duplicate)
        let invalid = await #expect(throws: SendError.self) {
            try await first.send(.background, payload: order)
        }
        #expect(invalid?.isInvalid == true)
        _ = await log.first { $0.module == "com.mm.copy" && $0.message == "one" }
        first.stop(because: "the test says so")
        try await run.value
        let late = await #expect(throws: SendError.self) {
            try await first.send(.message, payload: order)
        }
        #expect(late?.description == "not accepted: the host ends")
        #expect(log.messages.count { $0 == "one" } == 2)
    }

    @Test("without an inbox, or if the host is never run, nothing is accepted")
    func notAccepted() async throws {
        let none = try host(hasInbox: false)
        let error = await #expect(throws: SendError.self) {
            try await none.send(.message, payload: order)
        }
        #expect(error?.description == "not accepted: this host has no inbox")
        none.stop(because: "it was never run")

        let host = try host()
        let sent = Task { [order] in try await host.send(.message, payload: order) }
        host.stop(because: "it was never run")
        await #expect(throws: SendError.self) { try await sent.value }
        // The next one has the directory.
        _ = try self.host()
    }

    @Test("durable events over the socket of a host without an inbox are refused, others delivered")
    func socketAlone() async throws {
        let host = try host(hasInbox: false)
        let run = Task { try await host.run() }
        try await host.post("begun")
        let client = try HostClient(stateDirectory: folder.path)
        let error = await #expect(throws: HostClientError.self) {
            try await client.send(.message, payload: order)
        }
        #expect("\(try #require(error))".contains("not accepted: this host has no inbox"))
        try await client.send(.memoryWarning)
        #expect(!folder.names.contains("inbox"))
        run.cancel()
        try await run.value
    }

    @Test("a stop that runs out of time leaves the event to the next host, marked as repeated")
    func overdue() async throws {
        let log = LogRecorder()
        let host = try host(#", "stopAll": "50ms""#, log: log)
        let run = Task { try await host.run() }
        try await host.send(.message, payload: order, id: "stuck")
        _ = await log.first(containing: "stuck")
        let client = try HostClient(stateDirectory: folder.path)
        #expect(try await client.stop()["outcome"]?.string == "overdue")
        await #expect(throws: HostError.self) { try await run.value }

        let next = try self.host(log: log)
        let second = Task { try await next.run() }
        _ = await log.first(containing: "stuck again")
        Orders.isReleased.open()
        next.stop(because: "the test says so")
        try await second.value
    }

    @Test("the log and the followers of the socket have levels of their own")
    func log() async throws {
        let log = LogRecorder()
        let host = try host(log: log)
        let run = Task { try await host.run() }
        try await host.post("begun")
        let client = try HostClient(stateDirectory: folder.path)
        let lines = try await client.tail(level: .debug)
        try await host.send(.message, payload: order, id: "seen")
        for await line in lines {
            if case .line(let line) = line, line["event"]?.string == "message" { break }
        }
        run.cancel()
        try await run.value
        #expect(log.messages.contains("ready: 2 modules"))
        #expect(!log.records.contains { $0.level == .debug })
    }

    @Test("a host that is created from a text has no place for files of its own")
    func noPlace() throws {
        for (hasInbox, what) in [(true, "its inbox"), (false, "its control socket")] {
            let error = #expect(throws: HostError.self) {
                try AppHost(
                    slatefile: slatefile(),
                    settings: .init(hasInbox: hasInbox, hasControlSocket: true)
                ) { _ in }
            }
            #expect(
                "\(try #require(error))"
                    == "a host that is created from a text needs 'stateDirectory' for \(what)")
        }
    }

    @Test("a socket that cannot be created ends the run before anything is launched")
    func noSocket() async throws {
        try makeFolders(folder.path("control.sock"))
        let log = LogRecorder()
        let host = try host(log: log)
        let error = await #expect(throws: HostError.self) { try await host.run() }
        #expect("\(try #require(error))".hasPrefix("no control socket: "))
        #expect(!log.messages.contains { $0.hasPrefix("ready") })
        // It leaves the state directory to the next one.
        _ = try self.host()
    }

    @Test("an inbox that another program has locked is not waited for without end")
    func locked() throws {
        _ = try Inbox(in: StateDirectory(path: folder.path), log: LogRecorder().log)
        let lock = try Descriptor(lockFile: folder.path("inbox/inbox.lock"))
        try lock.lock(.exclusive)
        let directory = StateDirectory(path: folder.path)
        let log = LogRecorder().log
        let slatefile = try Slatefile.read(
            Array(slatefile().utf8), from: "slatefile.json", [:])
        let opening = InboxOpening(
            directory: directory, claim: try PidFile(claiming: directory),
            blackBox: DaemonBlackBox(
                in: directory, for: slatefile, of: .hostd, recordSize: RecordRing.defaultSize,
                .slow, log: log), log: log, program: .hostd)
        #expect(try opening.run(within: .milliseconds(1)) == nil)
        lock.unlock()
    }
}
