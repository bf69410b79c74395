import EventStreams
import Testing

/// Engines that are away, or full.
@Suite(.timeLimit(.minutes(2))) struct EngineOutageTests {
    @Test(arguments: EngineKind.allCases)
    func awayEngineIsUsedAgainWhenItReturns(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b) = (try bench.engine(Hosts.a), try bench.engine(Hosts.b))
        _ = try await a.publish([event(10)])
        try await b.seen([:])
        for round in UInt64(1)...3 {
            try bench.goAway()
            let verbs: [() async throws -> Any] = [
                { try await a.publish([event(round * 100)]) }, { try await a.hosts() },
                { try await b.seen([Hosts.a: position(10)]) },
                { try await b.read(after: [Hosts.a: .start], limit: 10) },
            ]
            for verb in verbs {
                let error = await streamError(verb)
                guard case .away = error else {
                    try bench.comeBack()
                    return fail("expected that it is away: \(error as Any)")
                }
            }
            try bench.comeBack()
            _ = try await a.publish([event(round * 100)])
            #expect(try await b.events(of: Hosts.a).count == 1 + Int(round))
        }
    }

    @Test(
        arguments: EngineKind.allCases.filter { $0 == .redis || TemporaryFolder.canMount })
    func windowIsRefusedAsAWholeWithoutRoom(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b) = (try bench.engine(Hosts.a), try bench.engine(Hosts.b))
        _ = try await a.publish([event(10)])
        try bench.fill()
        let large = String(repeating: "x", count: 100_000)
        let window = (2...9).map { event($0 * 10, large) }
        let error = await streamError { try await a.publish(window) }
        guard case .full = error else {
            return fail("expected that it is full: \(error as Any)")
        }
        #expect(try await b.events(of: Hosts.a) == [event(10)])
        try bench.makeRoom()
        if kind == .redis {
            _ = try await a.publish(window)
            #expect(try await b.events(of: Hosts.a) == [event(10)] + window)
        }
        _ = try await a.publish([event(100)])
        #expect(try await b.events(of: Hosts.a).last == event(100))
    }
}
