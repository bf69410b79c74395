import Testing

@Suite("Ownership protocol")
struct OwnershipProtocolTests {
    @Test("in every order, the lane has one owner")
    func sound() {
        let (states, violation) = OwnershipProtocol().explore()
        #expect(violation == nil)
        // As many as there are: a protocol in which nothing happens would be sound, too.
        #expect(states > 1000)
    }

    @Test("without the barrier, the old owner goes on beside the new one")
    func needsBarrier() {
        #expect(
            OwnershipProtocol(hasBarrier: false).explore().violation?.contains("has begun") == true)
    }

    @Test(
        "without the delivery in which the lane is taken, its module would not be called by any thread"
    )
    func needsTakenDelivery() {
        let violation = OwnershipProtocol(makesTakenDelivery: false).explore().violation
        #expect(violation?.contains("is left to the thread") == true)
    }

    @Test("without the lock, a takeover that is given up leaves the lane without an owner")
    func needsLock() {
        #expect(
            OwnershipProtocol(asksUnderLock: false).explore().violation?.contains(
                "no thread took it") == true)
    }
}
