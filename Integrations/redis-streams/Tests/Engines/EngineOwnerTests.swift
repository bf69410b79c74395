import EventStreams
import Testing

/// The owner of a stream, and the entries of it that may be removed.
@Suite(.timeLimit(.minutes(2))) struct EngineOwnerTests {
    /// A copy of a state directory has the mark of its original, and makes another one at its start.
    @Test(arguments: EngineKind.allCases)
    func copiedHostIsToldApart(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let original = try bench.engine(
            StreamOwner(name: Hosts.a, mark: "1"), trim: .seconds(3600))
        _ = try await original.publish([event(10, "1")])
        let copy = try bench.engine(
            StreamOwner(name: Hosts.a, mark: "2", formerMarks: ["1"]), trim: .seconds(3600))
        _ = try await copy.publish([event(10, "1"), event(20, "of the copy")])
        for _ in 1...2 {
            let error = await streamError {
                try await original.publish([event(30, "of the original")])
            }
            guard case .owned(let text) = error else {
                return fail("expected that it is owned: \(error as Any)")
            }
            #expect(text.hasPrefix("stream a000000000000001 of "))
            #expect(text.contains("a state directory was copied or restored"))
            guard case .owned = await streamError({ try await original.seen([:]) }) else {
                return fail("the original noted what it has seen")
            }
        }
        #expect(
            try await copy.events(of: Hosts.a) == [event(10, "1"), event(20, "of the copy")])
        // Under another name it goes on.
        let renewed = Hosts.a.renewed()
        _ = try await bench.engine(renewed).publish([event(30, "of the original")])
        #expect(try await copy.events(of: renewed) == [event(30, "of the original")])
        #expect(renewed.hostID == Hosts.a.text && StreamName(renewed.text) == renewed)
    }

    @Test(arguments: EngineKind.allCases)
    func restartedHostIsTheOwner(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        for start in 1...5 {
            let engine = try bench.engine(
                StreamOwner(
                    name: Hosts.a, mark: "\(start)", formerMarks: start == 1 ? [] : ["\(start - 1)"]
                ),
                trim: .seconds(3600))
            _ = try await engine.publish([event(UInt64(start))])
        }
        #expect(try await bench.engine(Hosts.b).events(of: Hosts.a).count == 5)
    }

    @Test(arguments: EngineKind.allCases)
    func nothingIsRemovedBeyondTheSlowestLivingHost(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b, c) = (
            try bench.engine(Hosts.a), try bench.engine(Hosts.b), try bench.engine(Hosts.c)
        )
        let all = (1...5).map { event($0 * 10) }
        _ = try await a.publish(all)
        // Alone, it does not know for which hosts it keeps them.
        try await a.seen([Hosts.a: position(50)])
        #expect(try await b.events(of: Hosts.a) == all)
        // A host that has read nothing lives, too.
        try await c.seen([:])
        try await b.seen([Hosts.a: position(40)])
        try await a.seen([Hosts.a: position(50)])
        #expect(try await b.events(of: Hosts.a) == all)
        try await c.seen([Hosts.a: position(20)])
        try await a.seen([Hosts.a: position(50)])
        #expect(try await b.events(of: Hosts.a) == Array(all.dropFirst(2)))
        #expect(try await b.hosts()[Hosts.a] == position(50))
        // Nor beyond what the owner knows that it has published.
        try await a.seen([Hosts.a: position(20)])
        try await c.seen([Hosts.a: position(30)])
        try await a.seen([Hosts.a: position(20)])
        #expect(try await b.events(of: Hosts.a) == Array(all.dropFirst(2)))
        // An absent host is not waited for.
        try bench.note(SeenRecord(time: 0, cursors: [Hosts.a: position(20)]), of: Hosts.c)
        try await a.seen([Hosts.a: position(50)])
        #expect(try await b.events(of: Hosts.a) == [event(50)])
    }

    /// The stream of a host that is gone is trimmed by the others.
    @Test(arguments: EngineKind.allCases)
    func streamOfAnAbsentHostIsTrimmed(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b, c) = (
            try bench.engine(Hosts.a), try bench.engine(Hosts.b), try bench.engine(Hosts.c)
        )
        _ = try await a.publish([event(10), event(20)])
        try bench.note(SeenRecord(time: 0, cursors: [:]), of: Hosts.a)
        try await c.seen([Hosts.a: position(10)])
        try await b.seen([Hosts.a: position(20)])
        #expect(try await c.events(of: Hosts.a) == [event(20)])
    }
}
