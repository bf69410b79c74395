import TestSupport
import Testing

@testable import ModuleHost

@Suite("A full inbox at the start", .timeLimit(.minutes(5)))
struct InboxBacklogTests {
    @Test("the lane gets event after event, and the inbox never sleeps while it has one")
    func withoutPause() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        // The cursor's time, which would wake it, is far away.
        let limits = Inbox.Limits(cursorDelay: .seconds(3600))
        let test = try HostUnderTest.durable("a", in: folder, limits: limits, probe: probe)
        let writer = try InboxWriter(InboxFolder(in: StateDirectory(path: folder.path)))
        var places: [EventPosition] = []
        for _ in 0..<20 {
            places += try writer.append(Array(repeating: HostUnderTest.push(), count: 500))
        }
        _ = try await test.launched()
        let last = try #require(places.last)
        await probe.reached("a \(last)#1")
        #expect(probe.heard("a") == places.map { "\($0)#1" })
        #expect(await test.stopped() == .stopped)
    }
}
