import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// The limits on what modules post, in the host and in a process of their own.
@Suite("Limits on posted messages", .timeLimit(.minutes(10)))
struct PostLimitTests {
    @Test(
        "a module in the host has at most so many messages that are not delivered, and others go on"
    )
    func inHost() async throws {
        let probe = Probe()
        probe.when("b push") { module in
            do {
                for number in 0...PostedEvents.limit {
                    try module.context.post("many", number)
                }
                probe.note("posted all")
            } catch {
                probe.note("\(error)")
            }
        }
        probe.when("b memory-warning") { try $0.context.post("one") }
        let test = try await HostUnderTest(
            [.init(name: "a"), .init(name: "b", config: #""topics": []"#)], probe: probe
        ).launched()
        try test.deliver(.push, "{}")
        await probe.reached(
            "event 'message' was not posted: 16384 of its events are yet to be delivered; post the rest "
                + "after the current event, for example from a timer")
        await test.settled()
        #expect(probe.entries("a").filter { $0 == "a message" }.count == PostedEvents.limit)
        // There is room again.
        try test.deliver(.memoryWarning)
        await test.settled()
        #expect(await test.stopped() == .stopped)
        #expect(probe.entries("a").filter { $0 == "a message" }.count == PostedEvents.limit + 1)
        #expect(!probe.entries.contains("posted all"))
    }

    @Test("the bytes count, too; a single message may have more")
    func bytes() {
        let posted = PostedEvents(10, bytes: 2 << 20)
        #expect(posted.enter(3 << 20) == nil)
        #expect(posted.enter(1) == "2 MiB of its events are yet to be delivered")
        posted.leave(3 << 20)
        #expect(posted.enter(1 << 20) == nil)
        #expect(posted.enter(1 << 20) == nil)
        #expect(posted.enter(1) != nil)
        posted.leave(1 << 20)
        #expect(posted.enter(1) == nil)
    }

    @Test(
        "a process that posts more in an event waits for its responses, and every message arrives")
    func inProcess() async throws {
        let probe = Probe()
        let test = try await IsolatedTest("post-many", probe: probe).launched()
        try test.host.deliver(.push, "{}")
        await probe.reached("c push")
        while probe.entries("c").filter({ $0 == "c message" }).count < 200 { await Task.yield() }
        #expect(await test.host.stopped() == .stopped)
        #expect(try test.received.filter { $0 == "message many" }.count == 200)
        let journal = try String(
            decoding: readFile(at: test.folder.path + "/journal", limit: 1 << 20), as: UTF8.self)
        #expect(journal.contains(#""response""#) && !journal.contains(#""error""#))
        #expect(test.log() == [])
    }

    @Test("no more requests wait than the limit allows, and a notification is refused")
    func waiting() throws {
        let services = KeptPosts()
        let limit = PostLimit(1)
        let event = try LifecycleEvent.message(topic: "a", payload: nil, origin: .host)
        #expect(try !limit.post(event, to: services))
        #expect(throws: RPCError.self) { try limit.post(event, to: services) }
        let accepted = LockedList<Int>()
        for number in 0..<PostLimit.waiting {
            #expect(try limit.post(event, to: services) { accepted.append(number) })
        }
        #expect(throws: RPCError.self) {
            try limit.post(event, to: services) { accepted.append(-1) }
        }
        #expect(accepted.values == [])
        for number in 0..<PostLimit.waiting {
            services.deliverOne()
            #expect(accepted.values == Array(0...number))
        }
        services.deliverOne()
        #expect(try !limit.post(event, to: services))
    }
}

/// Keeps what is posted until the test delivers it.
private final class KeptPosts: PostingServices {
    let time: any TimeSource = ManualTimeSource()
    private let kept = Guarded<[@Sendable () -> Void]>([])

    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void) {
        kept.withLock { $0.append(completion) }
    }

    func deliverOne() { kept.withLock { $0.isEmpty ? nil : $0.removeFirst() }?() }
}
