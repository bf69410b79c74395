import Testing

@testable import ModuleHostCore

@Suite("Descriptors that a thread waits for")
struct EpollTests {
    private func ready(_ set: borrowing Epoll, within milliseconds: Int32 = 0) -> Set<UInt64> {
        var tokens: Set<UInt64> = []
        set.wait(milliseconds: milliseconds) { tokens.insert($0) }
        return tokens
    }

    @Test("one that is ready is reported as long as it is, or once, by all 64 bits of its token")
    func reports() throws {
        let set = try Epoll()
        let signals = [try WakeSignal(), try WakeSignal(), try WakeSignal()]
        try set.add(signals[0].descriptor, token: .max, .always)
        try set.add(signals[1].descriptor, token: 1 << 33 + 5, .once)
        try set.add(signals[2].descriptor, token: 7, .once)
        #expect(ready(set).isEmpty)
        signals[0].give()
        signals[1].give()
        #expect(ready(set, within: 60_000) == [UInt64.max, 1 << 33 + 5 as UInt64])
        #expect(ready(set) == [UInt64.max])
        set.watch(signals[1].descriptor, token: 1 << 33 + 6)
        #expect(ready(set) == [UInt64.max, 1 << 33 + 6 as UInt64])
        signals[0].take()
        #expect(ready(set).isEmpty)
        signals[2].give()
        #expect(ready(set) == [7])
        set.remove(signals[0].descriptor)
        signals[0].give()
        #expect(ready(set).isEmpty)
    }

    @Test("more than fit into one wait have their turn in the next ones")
    func many() throws {
        let set = try Epoll()
        let signals = try (0..<150).map { _ in try WakeSignal() }
        for (number, signal) in signals.enumerated() {
            signal.give()
            try set.add(signal.descriptor, token: UInt64(number), .once)
        }
        var tokens: Set<UInt64> = []
        for _ in 0..<3 { tokens.formUnion(ready(set)) }
        #expect(tokens == Set((0..<150).map(UInt64.init)))
    }

    @Test("what cannot be waited for is an error")
    func refused() throws {
        let set = try Epoll()
        #expect(throws: SystemError.self) { try set.add(-1, token: 0, .always) }
        let signal = try WakeSignal()
        try set.add(signal.descriptor, token: 0, .always)
        #expect(throws: SystemError.self) { try set.add(signal.descriptor, token: 0, .always) }
    }
}
