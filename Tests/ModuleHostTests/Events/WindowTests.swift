import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// Modules that have several events at a time, in the host's process.
@Suite("Modules with a window", .timeLimit(.minutes(10)))
struct WindowTests {
    private let probe = Probe("WindowTests")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        probe.when("c push") { $0.noteEvent() }
    }

    private func launched(
        _ more: String = "", in state: TemporaryFolder? = nil
    ) async throws -> HostUnderTest {
        try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "b", more: more, type: "WindowProbe"),
                HostUnderTest.Entry(name: "c"),
            ], folder: state ?? folder, probe: probe
        ).launched()
    }

    private func give(_ text: String = "end", to events: String...) {
        for event in events { AsyncProbe.give(text, to: event, of: probe) }
    }

    /// Has the host accept pushes, and waits until the lane has passed them.
    private func accept(_ names: String..., by host: HostUnderTest) async {
        let count = probe.received("c").count + names.count
        for name in names { _ = await host.accept(name) }
        while probe.received("c").count < count { await Task.yield() }
        await host.settled()
    }

    private var noted: [String] { probe.entries.filter { $0.hasPrefix("b ") } }

    @Test("it has as many as its window from the first that it has not answered, begun in order")
    func slides() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", "five", by: host)
        #expect(noted == ["b one", "b two", "b three"])
        give(to: "three")
        await probe.reached("b three end")
        give(to: "two")
        await probe.reached("b two end")
        await host.settled()
        // The death of the host would have these delivered again: not more than three.
        #expect(noted.count == 5)
        give(to: "one")
        await probe.reached("b five")
        #expect(noted.dropFirst(5) == ["b one end", "b four", "b five"])
        give(to: "four", "five")
        await host.answered()
        #expect(host.host.gate.lane.openSlots.isEmpty)
        #expect(await host.stopped() == .stopped)
    }

    @Test("an event that concerns the app waits for all, and the next one for that")
    func barrier() async throws {
        let host = try await launched()
        await accept("one", "two", by: host)
        try host.deliver(.background)
        _ = await host.accept("three")
        await host.settled()
        #expect(noted == ["b one", "b two"])
        give(to: "two")
        await probe.reached("b two end")
        await host.settled()
        #expect(noted == ["b one", "b two", "b two end"])
        give(to: "one")
        await probe.reached("b three")
        #expect(noted.dropFirst(3) == ["b one end", "b background", "b three"])
        give(to: "three")
        await host.answered()
        #expect(await host.stopped() == .stopped)
    }

    @Test("the next host delivers again what stands from the first without an answer, marked")
    func death() async throws {
        let host = try await launched()
        await accept("one", "two", "three", "four", by: host)
        give(to: "two")
        await probe.reached("b two end")
        // What a host leaves that is killed now.
        let left = try folder.copied()
        give(to: "one", "three", "four")
        await host.answered()
        #expect(await host.stopped() == .stopped)

        let count = noted.count
        give(to: "one again", "two again", "three again")
        let next = try await launched(in: left)
        while noted.count(where: { $0 == "b four end" }) < 2 { await Task.yield() }
        await next.answered()
        #expect(
            Set(noted.dropFirst(count).filter { !$0.hasSuffix(" end") })
                == ["b one again", "b two again", "b three again", "b four"])
        #expect(await next.stopped() == .stopped)
    }

    @Test("one that wants an event again receives nothing until then, and others do not wait")
    func later() async throws {
        let host = try await launched()
        let outcome = Task { await host.outcome("one") }
        await probe.reached("b one")
        let second = Task { await host.outcome("two") }
        await probe.reached("b two")
        give("later", to: "one")
        guard case .done(let result) = await outcome.value else { throw TestError() }
        #expect((result.delivered, result.overdue, result.later) == (2, 0, 1))
        give(to: "two")
        await probe.reached("b two end")
        // It had that, and has handled it: it is not one of those that come later.
        guard case .done(let other) = await second.value else { throw TestError() }
        #expect((other.delivered, other.later) == (3, 0))
        await accept("three", by: host)
        let status = await host.statuses()[1]
        #expect(status.state == .running && status.pausedFor == .seconds(10))
        #expect(status.behind == 2 && status.reason == "wants its events again in 10s")
        #expect(noted == ["b one", "b two", "b one later", "b two end"])
        give("later", to: "one again")
        host.time.advance(by: .seconds(10))
        await probe.reached("b one again later")
        await host.settled()
        // Meanwhile it had room for the next one.
        give(to: "one again 2", "three")
        host.time.advance(by: .seconds(10))
        await probe.reached("b three end")
        #expect(host.recorder.records.count { $0.message.contains("wants this event again") } == 1)
        #expect(await host.stopped() == .stopped)
    }

    @Test("messages that do not concern it take no room in its window")
    func others() async throws {
        let host = try await launched()
        await accept("one", by: host)
        for _ in 0..<5 { try host.deliver(.message, #"{"topic": "other"}"#) }
        await accept("two", "three", by: host)
        #expect(noted == ["b one", "b two", "b three"])
        give(to: "one", "two", "three")
        await host.answered()
        #expect(await host.stopped() == .stopped)
    }

    @Test("a pause that is prolonged lasts as long as the last answer says")
    func prolonged() async throws {
        let host = try await launched()
        await accept("one", "two", by: host)
        give("later", to: "one")
        await probe.reached("b one later")
        host.time.advance(by: .seconds(10))
        await host.settled()
        // Not before the other one is answered.
        #expect(noted == ["b one", "b two", "b one later"])
        give("later", to: "two")
        await probe.reached("b two later")
        await host.settled()
        #expect(noted.count == 4)
        give(to: "one again", "two again")
        host.time.advance(by: .seconds(10))
        await probe.reached("b two again end")
        await host.answered()
        #expect(noted.filter { $0.hasSuffix(" again") } == ["b one again", "b two again"])
        #expect(await host.stopped() == .stopped)
    }

    @Test("deaths of the host while it wants an event later are not counted for the event")
    func deathsInAPause() async throws {
        var state = folder
        for round in 0..<4 {
            let host = try await launched(in: state)
            if round == 0 {
                await accept("one", by: host)
                give("later", to: "one")
            }
            let name = round == 0 ? "b one later" : "b one again"
            await probe.reached(name)
            // In a pause again, and killed.
            if round > 0 { give("later", to: "one again") }
            while await host.statuses()[1].pausedFor == nil { await Task.yield() }
            state = try state.copied()
            #expect(await host.stopped() == .stopped)
        }
        #expect(!fileExists(state.path("inbox/dead-letters.ndjson")))
    }

    @Test("a stop leaves what it wants later to the next host")
    func laterThanTheHost() async throws {
        let host = try await launched()
        await accept("one", "two", by: host)
        give("later", to: "one")
        await probe.reached("b one later")
        give(to: "two")
        await probe.reached("b two end")
        await accept("three", by: host)
        #expect(await host.stopped() == .stopped)

        let count = noted.count
        give(to: "one again", "two again", "three")
        let next = try await launched(in: folder)
        await probe.reached("b three end")
        await next.answered()
        #expect(noted.dropFirst(count).first == "b one again")
        #expect(await next.stopped() == .stopped)
    }

    @Test("its messages beyond the backlog are dropped while it wants nothing, and nobody waits")
    func fullInAPause() async throws {
        let host = try await launched(#""backlog": 5"#)
        await accept("one", by: host)
        give("later", to: "one")
        await probe.reached("b one later")
        await host.settled()
        for _ in 0..<20 { try host.deliver(.message, #"{"topic": "t"}"#) }
        await accept("two", by: host)
        give(to: "one again", "message", "two")
        host.time.advance(by: .seconds(10))
        await probe.reached("b two end")
        await host.answered()
        #expect(noted.count { $0 == "b message" } == 4)
        #expect(await host.stopped() == .stopped)
    }

    @Test("far behind it reads on in the inbox, with its window")
    func far() async throws {
        let host = try await launched(#""backlog": 3"#)
        let names = (0..<40).map { "n\($0)" }
        for name in names { _ = await host.accept(name) }
        while probe.received("c").count < 40 { await Task.yield() }
        for name in names { give(to: name) }
        await probe.reached("b n39 end")
        await host.caughtUp()
        await host.answered()
        #expect(noted.filter { !$0.hasSuffix("end") } == names.map { "b \($0)" })
        #expect(noted.count == 80)
        #expect(await host.stopped() == .stopped)
    }

    @Test("a window outside of 1 to 256 fails the module, with the reason")
    func invalid() async throws {
        let host = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a"),
                HostUnderTest.Entry(name: "b", type: "TooWideProbe"),
            ], folder: folder, probe: probe
        ).launched()
        let status = await host.statuses()[1]
        #expect(status.state == .failed)
        #expect(status.reason?.contains("its window is 257, and must be from 1 to 256") == true)
        #expect(await host.stopped() == .stopped)
    }
}

final class TooWideProbe: WindowedModule {
    static let window = 257

    init(context: ModuleContext) throws {}
}
