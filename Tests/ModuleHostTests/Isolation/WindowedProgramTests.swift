import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// Programs that have several events at a time, or want one again later: version 3 of the protocol.
@Suite("Modules of other processes: windows", .timeLimit(.minutes(10)))
struct WindowedProgramTests {
    private let probe = Probe("WindowedProgramTests")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        probe.when("c push") { $0.noteEvent() }
    }

    /// A program that writes down each event that it begins, and answers a push when the file of its id is there.
    ///
    /// The answer is what the file has in it; where that is `exit`, it exits.
    private static let script = #"""
        import json, os, sys, threading, time
        folder, declared = sys.argv[1:]
        lock = threading.Lock()
        def answer(message, result):
            with lock:
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
                sys.stdout.flush()
        def note(line):
            with open(folder + "/begun", "a") as file: file.write(line + "\n")
        def wait(message, name):
            path = folder + "/" + name
            while not os.path.exists(path): time.sleep(0.002)
            text = open(path).read()
            os.remove(path)
            if text == "exit": os._exit(1)
            if text == "ready":
                answer(message, {"retryMs": 3600000})
                with lock: print('{"jsonrpc":"2.0","method":"ready"}', flush=True)
                return
            answer(message, json.loads(text or "null"))
        for line in sys.stdin:
            message = json.loads(line)
            method, given = message["method"], message.get("params", {})
            if method == "initialize":
                note("host " + given.get("hostId", "none"))
                answer(message, {"protocol": 3, "module": "x.b", "events": ["push", "background"], **json.loads(declared)})
            elif method == "event" and given["event"] == "push":
                note(given["id"] + (" again" if given.get("repeated") else ""))
                threading.Thread(target=wait, args=(message, given["id"]), daemon=True).start()
            elif method == "event" and given["event"] == "foreground":
                note("foreground")
                threading.Thread(target=wait, args=(message, "hangs"), daemon=True).start()
            elif method == "event":
                with open(folder + "/time", "w") as file: file.write(str(given["deadlineMs"]))
                note(given["event"])
                answer(message, None)
            else:
                answer(message, None)
                if method == "shutdown": os._exit(0)
        """#

    private func entry(_ declared: String, _ more: String = "") -> HostUnderTest.Entry {
        HostUnderTest.Entry(
            name: "b", more: more,
            command: ["python3", "-c", Self.script, folder.path, declared])
    }

    private func launched(
        _ declared: String = #"{"window": 3}"#, _ more: String = "",
        in state: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"), entry(declared, more),
                HostUnderTest.Entry(name: "c"),
            ], folder: state ?? folder, processes: .quick, probe: probe
        ).launched()
    }

    /// The events that the program has begun.
    private func begun() throws -> [String] {
        guard fileExists(folder.path("begun")) else { return [] }
        return try folder.text(of: "begun").split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("host ") }
    }

    /// Waits for this number of events that the program has begun.
    private func expectBegun(
        _ lines: [String], at location: SourceLocation = #_sourceLocation
    ) async throws {
        let deadline = ContinuousClock.now + HostProcess.patience
        while try begun().count < lines.count, .now < deadline { await Task.yield() }
        let found = try begun()
        #expect(found == lines, sourceLocation: location)
    }

    private func answer(_ text: String = "", _ names: String...) throws {
        for name in names {
            try folder.write(text, to: name + ".new")
            try #require(rename(folder.path(name + ".new"), folder.path(name)) == 0)
        }
    }

    @Test(
        "in the background it has the time of a hold, or its own",
        arguments: [("", "10000"), (#""deadline": "4s""#, "4000")])
    func background(more: String, time: String) async throws {
        let host = try await launched(#"{"window": 3}"#, more)
        try host.deliver(.background)
        try await expectBegun(["background"])
        #expect(try folder.text(of: "time") == time)
        #expect(await host.stopped() == .stopped)
    }

    private func accept(_ names: String..., by host: HostUnderTest) async {
        let count = probe.received("c").count + names.count
        for name in names { _ = await host.accept(name) }
        while probe.received("c").count < count { await Task.yield() }
        await host.settled()
    }

    /// Returns the number of changes that wait until modules have answered.
    private func waiters(_ host: HostUnderTest) async -> Int {
        await withCheckedContinuation { continuation in
            host.host.onLane { app, _ in continuation.resume(returning: app.answerWaiters.count) }
        }
    }

    @Test("it has as many as its window, answers in any order, and the lane waits for none")
    func slides() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", "five", by: host)
        try await expectBegun(["one", "two", "three"])
        try answer("", "three", "two")
        while host.host.gate.lane.waitingCount(of: try await slot(host)) > 2 { await Task.yield() }
        try await expectBegun(["one", "two", "three"])
        try answer("", "one")
        try await expectBegun(["one", "two", "three", "four", "five"])
        try answer("", "four", "five")
        await host.answered()
        #expect(host.host.gate.lane.openSlots.isEmpty)
        #expect(await host.stopped() == .stopped)
    }

    private func slot(_ host: HostUnderTest) async throws -> ModuleSlot {
        let slots = host.host.gate.lane.allSlots
        return try #require(slots.first { $0.id?.text == "x.b" })
    }

    @Test("a state event waits for all, and the outcome of a push is there when all have answered")
    func barrier() async throws {
        let host = try await launched()
        let outcome = Task { await host.outcome("one") }
        try await expectBegun(["one"])
        // The program may have begun it before the module behind has it.
        while probe.received("c").isEmpty { await Task.yield() }
        await accept("two", by: host)
        try host.deliver(.background)
        try answer(#"{"fetch": "newData"}"#, "two")
        await host.settled()
        try await expectBegun(["one", "two"])
        try answer(#"{"fetch": "failed"}"#, "one")
        guard case .done(let result) = await outcome.value else { throw TestError() }
        #expect(result.fetch == .failed && result.overdue == 0)
        try await expectBegun(["one", "two", "background"])
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "its death has what it had without an answer come again, one at a time, and then the rest")
    func deathOfTheProcess() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", "five", by: host)
        try await expectBegun(["one", "two", "three"])
        try answer("", "two")
        let lane = host.host.gate.lane
        let module = try await slot(host)
        while lane.state.withLock({ $0.mailboxes[module]?.mail.open.events.count }) != 2 {
            await Task.yield()
        }
        try answer("exit", "three")
        try await expectBegun(["one", "two", "three", "one again"])
        try answer("", "one")
        try await expectBegun(["one", "two", "three", "one again", "three again"])
        try answer("", "three", "four", "five")
        await host.caughtUp()
        await host.answered()
        try await expectBegun([
            "one", "two", "three", "one again", "three again", "four", "five",
        ])
        #expect(await host.stopped() == .stopped)
    }

    @Test("the next host sends again what stands from the first without an answer, marked")
    func deathOfTheHost() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", by: host)
        try await expectBegun(["one", "two", "three"])
        try answer("", "two")
        while fileExists(folder.path("two")) { await Task.yield() }
        let left = try folder.copied()
        try answer("", "one", "three", "four")
        await host.answered()
        #expect(await host.stopped() == .stopped)

        try folder.write("", to: "begun")
        let next = try await launched(in: left)
        try await expectBegun(["one again", "two again", "three again"])
        try answer("", "one", "two", "three", "four")
        try await expectBegun(["one again", "two again", "three again", "four"])
        await next.answered()
        #expect(await next.stopped() == .stopped)
    }

    @Test("with 'retryMs' it gets the event again after that time, and the next ones behind it")
    func retry() async throws {
        let host = try await launched()
        let outcome = Task { await host.outcome("one") }
        try await expectBegun(["one"])
        try answer(#"{"retryMs": 10000}"#, "one")
        guard case .done(let result) = await outcome.value else { throw TestError() }
        #expect(result.later == 1 && result.overdue == 0)
        await accept("two", by: host)
        let status = await host.statuses()[1]
        #expect(status.state == .running && status.pausedFor == .seconds(10))
        try await expectBegun(["one"])
        host.time.advance(by: .seconds(10))
        try await expectBegun(["one", "one again", "two"])
        try answer("", "one", "two")
        await host.answered()
        #expect(await host.statuses()[1].pausedFor == nil)
        #expect(host.recorder.records.contains { $0.message == "receives events again" })
        #expect(await host.stopped() == .stopped)
    }

    @Test("'retryMs' counts also from a process that was started again for the event")
    func retryAfterADeath() async throws {
        let host = try await launched()
        await accept("one", by: host)
        try await expectBegun(["one"])
        try answer("exit", "one")
        try await expectBegun(["one", "one again"])
        try answer(#"{"retryMs": 10000}"#, "one")
        while await host.statuses()[1].pausedFor == nil { await Task.yield() }
        host.time.advance(by: .seconds(10))
        try await expectBegun(["one", "one again", "one again"])
        try answer("", "one")
        await host.answered()
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "and from one that is late, on the thread on which it goes on",
        arguments: [#"{"window": 3}"#, "{}"])
    func retryWhenLate(declared: String) async throws {
        let host = try await launched(declared, #""deadline": "5s", "killAfter": "10m""#)
        await accept("one", "two", by: host)
        try await expectBegun(declared == "{}" ? ["one"] : ["one", "two"])
        host.overrun()
        while await host.statuses()[1].state != .overdue { await Task.yield() }
        try answer("", "one")
        try await expectBegun(["one", "two"])
        try answer(#"{"retryMs": 10000}"#, "two")
        while await host.statuses()[1].pausedFor == nil { await Task.yield() }
        host.time.advance(by: .seconds(10))
        try await expectBegun(["one", "two", "two again"])
        try answer("", "two")
        await host.answered()
        #expect(await host.stopped() == .stopped)
    }

    @Test("'ready' ends the pause that the answer before it has begun")
    func ready() async throws {
        let host = try await launched()
        await accept("one", by: host)
        try answer("ready", "one")
        try await expectBegun(["one", "one again"])
        try answer("", "one")
        await host.answered()
        #expect(await host.stopped() == .stopped)
    }

    @Test("while it wants its events later, it is asked about a URL, and so are those behind it")
    func search() async throws {
        let host = try await launched(#"{"events": ["push", "open-url"]}"#)
        await accept("one", by: host)
        try answer(#"{"retryMs": 10000}"#, "one")
        while await host.statuses()[1].pausedFor == nil { await Task.yield() }
        try host.deliver(.openURL, #"{"url": "t://a"}"#)
        try await expectBegun(["one", "open-url"])
        await host.settled()
        let record = await host.recorder.first { $0.event == "open-url" }
        #expect(!record.message.contains("unresponsive"), "\(record.message)")
        #expect(await host.stopped() == .stopped)
    }

    @Test("it is unresponsive when the oldest is late, of which its deadline decides")
    func late() async throws {
        let host = try await launched(#"{"window": 3}"#, #""deadline": "5s", "killAfter": "10m""#)
        await accept("one", "two", by: host)
        try await expectBegun(["one", "two"])
        host.overrun()
        while await host.statuses()[1].state != .overdue { await Task.yield() }
        try answer("", "two", "one")
        await host.caughtUp()
        await host.answered()
        #expect(await host.statuses()[1].state == .running)
        await accept("three", by: host)
        try answer("", "three")
        await host.answered()
        try await expectBegun(["one", "two", "three"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("it has the time of a call for the events of a window, and says how long that is")
    func deadline() async throws {
        let host = try await launched()
        await accept("one", by: host)
        host.overrun()
        await host.settled()
        #expect(await host.statuses()[1].state == .running)
        host.overrun(.seconds(30))
        while await host.statuses()[1].state != .overdue { await Task.yield() }
        try answer("", "one")
        await host.caughtUp()
        #expect(await host.stopped() == .stopped)
    }

    @Test("its restart does not wait for answers that take long: the new process gets them again")
    func restart() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", by: host)
        try await expectBegun(["one", "two", "three"])
        let restarted = Promise<String>()
        host.host.restart("x.b", origin: .host) { restarted.keep("\($0)") }
        // Its drain has begun.
        while await waiters(host) == 0 { await Task.yield() }
        host.time.advance(by: .seconds(10))
        #expect(await restarted.value.contains("success"))
        // The former one is notified of its end; the new one reads on in the inbox.
        try await expectBegun(["one", "two", "three", "background", "one again", "two again"])
        try answer("", "one", "two", "three", "four")
        while try begun().count < 8 { await Task.yield() }
        #expect(try begun().suffix(2) == ["three again", "four"])
        await host.caughtUp()
        await host.answered()
        #expect(await host.statuses()[1].state == .running)
        #expect(await host.stopped() == .stopped)
    }

    @Test("an event with less time than those before it is late in its own time")
    func shorterTime() async throws {
        let host = try await launched(#"{"window": 3, "events": ["push", "foreground"]}"#)
        await accept("one", by: host)
        try answer("", "one")
        await host.answered()
        try host.deliver(.background)
        try host.deliver(.foreground)
        try await expectBegun(["one", "foreground"])
        host.overrun()
        while await host.statuses()[1].state != .overdue { await Task.yield() }
        try answer("", "hangs")
        await host.caughtUp()
        #expect(await host.stopped() == .stopped)
    }

    @Test("a stop waits for its answers")
    func stop() async throws {
        let host = try await launched()
        await accept("one", "two", "three", by: host)
        try await expectBegun(["one", "two", "three"])
        let end = Task { await host.stopped() }
        try answer("", "two", "one", "three")
        #expect(await end.value == .stopped)
        try folder.write("", to: "begun")
        let next = try await launched()
        await next.answered()
        try await expectBegun([])
        #expect(await next.stopped() == .stopped)
    }

    @Test(
        "what is no window is an invalid answer",
        arguments: [
            (#"{"window": 0}"#, "with 'window' 0, which is not from 1 to 256"),
            (#"{"window": 1000000000}"#, "with 'window' 1000000000, which is not from 1 to 256"),
            (
                #"{"window": 3, "protocol": 2}"#,
                "with 'window' in version 2 of the protocol; answer with \"protocol\": 3"
            ),
        ])
    func invalid(declared: String, reason: String) async throws {
        let host = try await launched(declared)
        let status = await host.statuses()[1]
        #expect(status.state == .failed && status.reason?.contains(reason) == true)
        #expect(await host.stopped() == .stopped)
    }

    @Test(
        "what is no time is an error, and the event is done",
        arguments: ["1.5", #""soon""#, "null"])
    func invalidTime(text: String) async throws {
        let host = try await launched()
        await accept("one", by: host)
        try answer(#"{"retryMs": \#(text)}"#, "one")
        await host.answered()
        let record = await host.recorder.first { $0.level == .error }
        #expect(record.message.contains("which is not a whole number"))
        #expect(await host.stopped() == .stopped)
    }

    @Test("each process has the id of the host, which stays, and which another inbox does not have")
    func hostID() async throws {
        let host = try await launched()
        let id = try #require(host.host.inbox?.hostID)
        #expect(isHostID(id.utf8))
        #expect(await host.stopped() == .stopped)
        let next = try await launched()
        #expect(next.host.inbox?.hostID == id)
        let said = try folder.text(of: "begun").split(separator: "\n").filter {
            $0.hasPrefix("host ")
        }
        #expect(said == ["host \(id)", "host \(id)"])
        #expect(await next.stopped() == .stopped)
        let other = try await launched(in: try TemporaryFolder())
        #expect(other.host.inbox?.hostID != id)
        #expect(await other.stopped() == .stopped)
    }
}
