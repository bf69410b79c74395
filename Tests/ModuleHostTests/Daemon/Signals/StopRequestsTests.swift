import Testing

@testable import ModuleHostCore

@Suite("Requests to stop a host")
struct StopRequestsTests {
    @Test("those within 250 ms of the first are one request; one after that is a second")
    func window() {
        let start = ContinuousClock.now
        var requests = StopRequests()
        // From the first, not from the last: a sender that repeats the signal does not hold up the end.
        let areSecond = [0, 1, 100, 249, 250, 9000].map { milliseconds in
            requests.isSecond(at: start + .milliseconds(milliseconds))
        }
        #expect(areSecond == [false, false, false, false, true, true])
    }
}
