import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules of other processes: durable events", .timeLimit(.minutes(10)))
struct IsolatedInboxTests {
    private let probe: Probe
    private let folder: TemporaryFolder
    private let program: RecordingProgram

    init() throws {
        probe = Probe(#fileID)
        folder = try TemporaryFolder()
        program = RecordingProgram("x.b", in: folder)
        probe.when("a push") { $0.noteEvent() }
    }

    private func launched(
        in folder: TemporaryFolder, intensity: Int = 100
    ) async throws -> HostUnderTest {
        var processes = ProcessSettings.quick
        processes.restarts.intensity = intensity
        processes.restarts.longestDelay = .milliseconds(1)
        return try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(
                    name: "b", more: #""killAfter": "10m""#, command: program.command),
            ], folder: folder, processes: processes, probe: probe
        ).launched()
    }

    @Test(
        "a current event comes again, in the same attempt: a program may die, and so may the host, which it does not end"
    )
    func current() async throws {
        let first = try await launched(in: folder)
        _ = await first.accept("die")
        _ = try await program.received { $0.id == "die" && $0.isRepeated }
        _ = await first.accept("hang")
        let hanging = try await program.received { $0.id == "hang" }
        // Before that it would be an attempt of the host.
        await first.settled()
        // What a host leaves that is killed now.
        let left = try folder.copied()
        kill(Int32(hanging.processID), SIGKILL)
        _ = try await program.received { $0.id == "hang" && $0.isRepeated }
        #expect(await first.stopped() == .stopped)

        let former = Set(try program.received.map(\.processID))
        let second = try await launched(in: left)
        _ = try await program.received { $0.id == "hang" && !former.contains($0.processID) }
        #expect(await second.stopped() == .stopped)
        let events = try program.received
        #expect(events.map(\.id) == ["die", "die", "hang", "hang", "hang"])
        #expect(events.map(\.isRepeated) == [false, true, false, true, true])
        #expect(events.map(\.attempt) == [1, 1, 1, 1, 1])
        #expect(events[0].position != nil && events[0].position == events[1].position)
        #expect(Set(events.suffix(3).map(\.position)) == [hanging.position])
    }

    /// What is put aside when the inbox has come to its next cursor.
    private func moveToDeadLetters(by host: HostUnderTest) async throws -> [DeadLetter] {
        for number in 0..<3 {
            _ = await host.outcome("turn \(number)")
            host.time.advance(by: .seconds(1))
        }
        return try DeadLetters(InboxFolder(in: StateDirectory(path: folder.path)))
            .contents().events
    }

    @Test("an event that three of its processes end at is put aside for it, and it goes on")
    func poison() async throws {
        let host = try await launched(in: folder)
        for id in ["poison", "after"] { _ = await host.accept(id) }
        _ = try await program.received { $0.id == "after" }
        let rejected = try await moveToDeadLetters(by: host)
        #expect(rejected.map(\.id) == ["poison"])
        #expect(rejected.map(\.modules) == [[ModuleID(checked: "x.b")]])
        let reason = rejected.first?.reason.replacing(/process \d+/, with: "process N")
        #expect(
            reason == "module 'x.b': process N was killed by SIGKILL; 3 processes ended at this "
                + "event, which is not repeated again")
        #expect(await host.stopped() == .stopped)
        #expect(
            try program.received.prefix(4).map(\.id) == ["poison", "poison", "poison", "after"])
        #expect(probe.received("a").count == 5)
    }

    @Test("when it is given up, all that it has not received waits for it, in order")
    func givenUp() async throws {
        let host = try await launched(in: folder, intensity: 5)
        _ = await host.accept("hang")
        let hanging = try await program.received { $0.id == "hang" }
        host.overrun()
        for id in ["poison 1", "poison 2", "late 1"] { _ = await host.outcome(id) }
        kill(Int32(hanging.processID), SIGKILL)
        _ = await host.recorder.first { $0.message.hasPrefix("process failed") }
        _ = await host.outcome("late 2")
        // The second one is what the last process had in hand.
        #expect(await waiting(host)?.count == 3)
        let rejected = try await moveToDeadLetters(by: host)
        #expect(rejected.map(\.id) == ["poison 1"])
        #expect(probe.received("a").count == 8)
        #expect(await host.stopped() == .stopped)

        // The next host delivers it, and drops the second poison after three more processes.
        let next = try await launched(in: folder)
        _ = await next.accept("new")
        _ = try await program.received { $0.id == "new" }
        #expect(try await moveToDeadLetters(by: next).map(\.id) == ["poison 1", "poison 2"])
        #expect(await next.stopped() == .stopped)
        let events = try program.received.compactMap(\.id).filter { !$0.hasPrefix("turn") }
        #expect(
            events.suffix(6) == ["poison 2", "poison 2", "poison 2", "late 1", "late 2", "new"])
    }

    @Test("given up at the first death: the event in hand waits, too, and the next process gets it")
    func givenUpAtOnce() async throws {
        let host = try await launched(in: folder, intensity: 1)
        _ = await host.outcome("first")
        _ = await host.outcome("die")
        for id in ["later 1", "later 2"] { _ = await host.outcome(id) }
        #expect(await waiting(host)?.count == 3)
        let outcome = await withCheckedContinuation { continuation in
            host.host.restart("x.b", origin: .host) { continuation.resume(returning: $0) }
        }
        guard case .reload(let reload) = try outcome.get() else {
            return #expect(Bool(false), "killed")
        }
        #expect(reload.text == "applied: recreated x.b")
        // To the new process it is repeated, and it dies of the first time alone.
        _ = try await program.received { $0.id == "later 2" }
        #expect(await host.stopped() == .stopped)
        #expect(
            try program.received.compactMap(\.id) == ["first", "die", "die", "later 1", "later 2"])
        #expect(try program.received.map(\.isRepeated).prefix(3) == [false, false, true])
    }

    /// What waits for the module.
    private func waiting(_ host: HostUnderTest) async -> WaitingEvents? {
        await host.statuses()[1].waiting
    }

    @Test("killed ten times as events flow, it receives each in order, only the current one again")
    func tenKills() async throws {
        let host = try await launched(in: folder)
        var accepted: [String] = []
        for number in 0..<200 {
            let position = try #require(await host.accept())
            accepted.append(position.description)
            guard number % 20 == 10 else { continue }
            // The last that runs: what comes meanwhile comes to the next one.
            let event = try await program.received { $0.position == accepted[number - 5] }
            let current = try program.received.last?.processID ?? event.processID
            let start = host.recorder.records.count
            kill(Int32(current), SIGKILL)
            _ = await host.recorder.first(from: start) {
                $0.message.hasPrefix("runs again, as process ")
            }
        }
        _ = try await program.received { $0.position == accepted.last }
        #expect(await host.stopped() == .stopped)

        let events = try program.received
        var once: [String] = []
        for event in events where event.position != once.last { once.append(event.position ?? "?") }
        #expect(once == accepted)
        let again = events.filter(\.isRepeated)
        #expect(events.count - again.count <= accepted.count)
        #expect(events.allSatisfy { $0.attempt == 1 })
        #expect(Set(again.map(\.position)).count == again.count && again.count <= 10)
        // The first event of a process is the only one that it may have received before.
        for (earlier, later) in zip(events, events.dropFirst()) where later.isRepeated {
            #expect(earlier.processID != later.processID)
        }
        #expect(Set(events.map(\.processID)).count == 11)
        #expect(probe.received("a") == accepted.map { "\($0)#1" })
    }
}
