import EventStreams
import Testing

/// The promises of each engine, on the real one.
@Suite(.timeLimit(.minutes(2))) struct EngineContractTests {
    @Test(arguments: EngineKind.allCases)
    func windowIsPublishedInItsOrder(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let window = [event(10, "1", id: "first"), event(20, "\"\u{e9}\\n\""), event(30, "{}")]
        let end = try await bench.engine(Hosts.a).publish(window)
        #expect(end == position(30))
        #expect(try await bench.engine(Hosts.b).events(of: Hosts.a) == window)
    }

    @Test(arguments: EngineKind.allCases)
    func publishingAgainAddsNothing(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (engine, window) = (try bench.engine(Hosts.a), [event(10, "1"), event(20, "2")])
        #expect(try await engine.publish(window) == position(20))
        #expect(try await engine.publish(window) == position(20))
        // Another process of this host does not know what was published.
        #expect(try await bench.engine(Hosts.a).publish(window) == position(20))
        #expect(try await engine.events(of: Hosts.a) == window)
    }

    @Test(arguments: EngineKind.allCases)
    func partOfAWindowIsCompleted(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let window = [event(10, "1"), event(20, "2"), event(30, "3")]
        _ = try await bench.engine(Hosts.a).publish(Array(window.prefix(2)))
        let end = try await bench.engine(Hosts.a).publish(window)
        #expect(end == position(30))
        #expect(try await bench.engine(Hosts.b).events(of: Hosts.a) == window)
    }

    @Test(arguments: EngineKind.allCases)
    func otherEventAtTheSamePositionDiverges(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let window = [event(10, "1"), event(20, "2")]
        _ = try await bench.engine(Hosts.a).publish(window)
        for engine in [try bench.engine(Hosts.a), try bench.engine(Hosts.a)] {
            let error = await streamError { try await engine.publish([event(20, "other")]) }
            #expect(
                error
                    == .diverged(
                        position(20),
                        "stream a000000000000001 is beyond event 1-20, and has another event there: the state directory of this host went back in time, or is a copy. This host must begin a new stream"
                    ))
            // An event between two others is missing.
            guard
                case .diverged(position(15), let text) = await streamError({
                    try await engine.publish([event(10, "1"), event(15, "?"), event(40, "4")])
                })
            else { return fail("published") }
            #expect(text.contains("beyond event 1-15, and does not have it"))
        }
        #expect(try await bench.engine(Hosts.b).events(of: Hosts.a) == window)
    }

    @Test(arguments: EngineKind.allCases)
    func trimmedEventDiverges(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b) = (try bench.engine(Hosts.a), try bench.engine(Hosts.b))
        let window = [event(10, "1"), event(20, "2")]
        _ = try await a.publish(window)
        try await b.seen([Hosts.a: position(20)])
        try await a.seen([Hosts.a: position(20)])
        #expect(try await b.events(of: Hosts.a) == [])
        for published in [StreamPosition.start, position(10), position(19)] {
            let owner = StreamOwner(
                name: Hosts.a, mark: "mark of \(Hosts.a)", published: published)
            let error = await streamError {
                try await bench.engine(owner, trim: .seconds(3600)).publish(window)
            }
            guard case .diverged(let at, _) = error else {
                return fail("expected that it diverged: \(error as Any)")
            }
            #expect(at == (published == .start ? position(10) : position(20)))
        }
        // A host whose disk says that it has published them gives them again after its death.
        let owner = StreamOwner(name: Hosts.a, mark: "mark of \(Hosts.a)", published: position(20))
        _ = try await bench.engine(owner, trim: .seconds(3600)).publish(window)
        #expect(try await b.events(of: Hosts.a) == [])
        // What is behind the removed events is published.
        _ = try await bench.engine(Hosts.a).publish([event(21, "3")])
        #expect(try await b.events(of: Hosts.a) == [event(21, "3")])
    }

    @Test(arguments: EngineKind.allCases)
    func sourcesAreReadFromTheirCursorsAndNothingIsSkipped(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let of = (
            a: (1...7).map { event($0 * 10, "\($0)") }, b: (1...4).map { event($0 * 7, "\($0)") }
        )
        _ = try await bench.engine(Hosts.a).publish(of.a)
        _ = try await bench.engine(Hosts.b).publish(of.b)
        for limit in 1...4 {
            let read = try await bench.engine(Hosts.c).readAll(
                of: [Hosts.a, Hosts.b, Hosts.c], after: [Hosts.a: position(25)], limit: limit)
            #expect(
                try read.filter { $0.source == Hosts.a }.map { try $0.event() }
                    == Array(of.a.dropFirst(2)))
            #expect(try read.filter { $0.source == Hosts.b }.map { try $0.event() } == of.b)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func readWaitsForAnEvent(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b) = (try bench.engine(Hosts.a), try bench.engine(Hosts.b))
        #expect(try await b.read(after: [:], limit: 10) == [])
        #expect(try await b.read(after: [Hosts.a: .start], limit: 10) == [])
        async let read = b.readUntilOne(of: Hosts.a)
        _ = try await a.publish([event(10)])
        #expect(try await read.map { try $0.event() } == [event(10)])
    }

    @Test(arguments: EngineKind.allCases)
    func hostsHaveTheirLastPositions(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let (a, b) = (try bench.engine(Hosts.a), try bench.engine(Hosts.b))
        #expect(try await a.hosts() == [:])
        _ = try await a.publish([event(10), event(20)])
        try await b.seen([:])
        #expect(try await a.hosts() == [Hosts.a: position(20), Hosts.b: .start])
    }

    @Test(arguments: EngineKind.allCases)
    func deadLetterHasItsReason(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let a = try bench.engine(Hosts.a)
        _ = try await a.publish([event(10, "{")])
        let entry = try #require(await a.read(after: [Hosts.a: .start], limit: 1).first)
        try await a.dead(entry, reason: "the body is not JSON")
        try await a.dead(entry, reason: String(repeating: "x", count: 5000))
        #expect(
            try bench.deadLetters() == [
                "a000000000000001 1-10 the body is not JSON",
                "a000000000000001 1-10 " + String(repeating: "x", count: 1000),
            ])
    }

    @Test(arguments: EngineKind.allCases)
    func windowBeyondTheLimitsIsInvalid(_ kind: EngineKind) async throws {
        let bench = try kind.bench()
        let a = try bench.engine(Hosts.a)
        let large = String(repeating: "x", count: StreamLimits.event)
        let windows = [
            "a window has at most 256 events, not 257: publish fewer at a time": (1...257).map {
                event($0)
            },
            "event 1-10 is in the window behind 1-10: positions must grow": [event(10), event(10)],
            "event 1-10 has 1048597 bytes: at most 1048576 are possible": [event(10, large)],
            "the window has 17824449 bytes: at most 16777216 are possible; publish fewer events at a time":
                (1...17).map { event($0, String(large.dropLast(100))) },
            "0-0 is not a position: those of events are greater": [
                StreamEvent(position: .start, id: nil, topic: "", body: "")
            ],
        ]
        for (text, window) in windows {
            #expect(await streamError { try await a.publish(window) } == .invalid(text))
        }
        #expect(try await a.events(of: Hosts.a) == [])
        // The largest ones that are possible.
        let most = (1...(kind == .redis ? 15 : 2)).map { event($0, String(large.dropLast(100))) }
        #expect(try await a.publish(most) == most.last?.position)
        #expect(try await a.events(of: Hosts.a) == most)
    }
}

extension StreamEngine {
    fileprivate func readUntilOne(of source: StreamName) async throws -> [StreamEntry] {
        while true {
            try Task.checkCancellation()
            let read = try await read(after: [source: .start], limit: 10)
            if !read.isEmpty { return read }
        }
    }
}

/// The error of an engine that code throws.
func streamError(_ body: () async throws -> Any) async -> StreamError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? StreamError
    }
}

/// Records that a test has failed where another error was expected.
func fail(_ text: String, at location: SourceLocation = #_sourceLocation) {
    Issue.record(Comment(rawValue: text), sourceLocation: location)
}
