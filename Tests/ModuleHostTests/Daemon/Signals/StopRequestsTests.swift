import Testing

@testable import ModuleHost

@Suite("Requests to stop a host")
struct StopRequestsTests {
    @Test("those within 250 ms of the first are one request; one after that is a second")
    func window() {
        let start = ContinuousClock.now
        var requests = StopRequests()
        #expect(!requests.isSecond(at: start))
        for milliseconds in [0, 1, 100, 249] {
            #expect(!requests.isSecond(at: start + .milliseconds(milliseconds)))
        }
        // From the first, not from the last: a sender that repeats the signal does not hold up the end.
        #expect(requests.isSecond(at: start + .milliseconds(250)))
        #expect(requests.isSecond(at: start + .seconds(9)))
    }
}
