import AppService
import TestSupport

@testable import ModuleHostCore

/// A host with probe modules and a clock that the test moves.
final class HostUnderTest: Sendable {
    /// A module of the slatefile: its short name, and what stands beside `id` and `entry`.
    struct Entry {
        var name: String
        var more = ""
        var config = ""
        /// The module's class, of this target.
        var type = "ProbeModule"
        /// The module's program, in place of a class.
        var command: [String] = []
    }

    let host: AppHost
    let probe: Probe
    let time = ManualTimeSource()
    let recorder = LogRecorder()
    /// Where durable events come from; nil where the test has none.
    let inbox: Inbox?
    private let ends = AsyncStream<AppHost.End>.makeStream()
    private let readies = AsyncStream<Int>.makeStream()

    /// - Parameters:
    ///   - entries: The modules, in order; the first is the main one.
    ///   - top: More members of the slatefile.
    ///   - tokens: What lets remote callers reach more than what is public.
    ///   - folder: A state directory with an inbox and a black box; nil for a host without.
    ///   - limits: Of the inbox.
    ///   - sizes: Of its files.
    ///   - blackBox: Where the host notes what it is at; nil for one in the folder, if there is one.
    ///   - processes: How modules run that are programs.
    ///   - probe: What the modules report to.
    ///   - ring: Where the host notes what happens.
    /// - Throws: Where the slatefile made of these is invalid.
    init(
        _ entries: [Entry], top: String = "", tokens: TokenStore = .empty,
        folder: TemporaryFolder? = nil, limits: Inbox.Limits = Inbox.Limits(),
        sizes: InboxLimits = InboxLimits(), blackBox: BlackBox? = nil,
        processes: ProcessSettings = ProcessSettings(), probe: Probe, ring: RecordRing? = nil
    ) throws {
        self.probe = probe
        let slatefile = try Self.slatefile(entries, top: top, probe: probe)
        let directory = StateDirectory(path: folder?.path ?? "/nonexistent")
        let box = folder == nil ? nil : try BlackBox(in: directory, app: "test")
        inbox =
            folder == nil
            ? nil
            : try Inbox(
                InboxFolder(in: directory, limits: sizes), limits, after: box?.previous, box: box,
                log: recorder.log, time: time)
        try box?.begin()
        host = AppHost(
            slatefile: slatefile, stateDirectory: directory.path, processes: processes,
            tokens: tokens, inbox: inbox, log: recorder.log, time: time,
            observer: AppHost.Observer(
                onReady: { [readies] modules, _, _ in readies.continuation.yield(modules) },
                onEnd: { [ends, inbox] end in
                    inbox?.stop(within: .seconds(60))
                    ends.continuation.yield(end)
                }),
            blackBox: blackBox ?? box, ring: ring)
        try inbox?.start()
    }

    /// The slatefile of these modules.
    static func slatefile(
        _ entries: [Entry], top: String = "", probe: Probe
    ) throws -> Slatefile {
        try Slatefile.read(
            Array(text(entries, top: top, probe: probe).utf8), path: "slatefile.json",
            environment: { _ in nil }, checkEntry: EntryUse.checkAgainstBinary())
    }

    /// The same as text.
    static func text(_ entries: [Entry], top: String = "", probe: Probe) throws -> String {
        // A test's name may have quotes in it.
        let name = String(decoding: try JSONEncoding.bytes(probe.name), as: UTF8.self)
        let modules = try entries.enumerated().map { index, entry in
            let what =
                entry.command.isEmpty
                ? "\"entry\": \"ModuleHostTests.\(entry.type)\""
                : "\"command\": "
                    + String(decoding: try JSONEncoding.bytes(entry.command), as: UTF8.self)
            return """
                {"id": "x.\(entry.name)", \(what), \
                "main": \(index == 0)\(entry.more.isEmpty ? "" : ", " + entry.more), \
                "config": {"probe": \(name)\(entry.config.isEmpty ? "" : ", " + entry.config)}}
                """
        }
        return """
            {"slate": 1, "app": "test", \(top.isEmpty ? "" : top + ", ")"modules": [
            \(modules.joined(separator: ",\n"))
            ]}
            """
    }

    /// Modules by their short names.
    convenience init(_ names: String..., top: String = "", probe: Probe) throws {
        try self.init(names.map { Entry(name: $0) }, top: top, probe: probe)
    }

    /// Launches and waits until the app is ready.
    func launched() async throws -> HostUnderTest {
        try host.launch()
        for await _ in readies.stream { break }
        return self
    }

    /// Waits for the end, however it comes.
    func end() async -> AppHost.End {
        for await end in ends.stream {
            time.dropAlarms()
            return end
        }
        return .failed("the stream ended")
    }

    /// Asks for a stop and waits for the end.
    func stopped() async -> AppHost.End {
        host.stop(because: "the test is over")
        return await end()
    }

    /// Waits until everything that was accepted before has been worked off.
    func settled() async {
        await withCheckedContinuation { continuation in
            host.onLane { _, _ in continuation.resume() }
        }
    }

    /// Waits until what was accepted before was worked off, and all modules have answered it.
    func answered() async {
        await withCheckedContinuation { continuation in
            host.settle { _ in continuation.resume() }
        }
    }

    /// Whether something waits until modules have answered.
    func waitsForAnswers() async -> Bool {
        await withCheckedContinuation { continuation in
            host.onLane { app, _ in
                continuation.resume(returning: !app.answerWaiters.isEmpty)
            }
        }
    }

    /// Waits until a thread that returned late has released the number of its module for others.
    func released(_ number: UInt16) async {
        while !Task.isCancelled, host.gate.lane.vacantNumbers(1) != [number] { await settled() }
    }

    /// The status of each module, in order.
    func statuses() async -> [ModuleStatus] {
        await withCheckedContinuation { continuation in
            host.onLane { app, _ in continuation.resume(returning: app.moduleStatuses) }
        }
    }

    /// The number of modules that have failed.
    func failedCount() async -> Int { await statuses().count { $0.state == .failed } }

    /// The number of times that another attempt to restart a module was scheduled.
    var scheduledRestarts: Int {
        recorder.records.count { $0.message.hasPrefix("restarting in ") }
    }

    /// Waits until no module is overdue: each thread that was late has returned, and noted it.
    func caughtUp() async {
        while !Task.isCancelled, !host.gate.lane.overdueSlots.isEmpty { await settled() }
    }

    /// Moves the clock past a deadline, in the watchdog's own steps.
    func overrun(_ deadline: Duration = .seconds(5)) { time.advance(by: deadline + deadline / 5) }

    func deliver(_ kind: EventKind, _ payload: String? = nil) throws {
        let payload = try payload.map { try JSONValue(parsing: $0) }
        host.deliver(try LifecycleEvent(kind, payload: payload, origin: .host))
    }
}
