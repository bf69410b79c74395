import EventStreams
import Testing

/// Entries that stay for a time after every host has them.
@Suite struct RemovalDelayTests {
    @Test func positionIsThatOfTheDelayAgo() {
        var removal = RemovalDelay(160)
        for time in UInt64(0)..<16 {
            #expect(removal.position(position(time * 10), of: Hosts.a, now: time * 10) == .start)
        }
        for time in UInt64(16)...50 {
            #expect(
                removal.position(position(time * 10), of: Hosts.a, now: time * 10)
                    == position(time * 10 - 160))
        }
        // Another stream has its own.
        #expect(removal.position(position(7), of: Hosts.b, now: 500) == .start)
        // A host that appears has received nothing: nothing more is removed.
        #expect(removal.position(.start, of: Hosts.a, now: 510) == .start)
    }

    @Test func withoutDelayItIsThePosition() {
        var removal = RemovalDelay(0)
        for time in UInt64(1)...3 {
            #expect(removal.position(position(time), of: Hosts.a, now: 5) == position(time))
        }
    }
}
