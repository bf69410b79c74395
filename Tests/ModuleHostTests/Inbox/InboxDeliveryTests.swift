import TestSupport
import Testing

@testable import ModuleHostCore

/// Durable events on their way from the inbox to the modules.
@Suite("Delivery from the inbox", .timeLimit(.minutes(10)))
struct InboxDeliveryTests {
    @Test("an event is accepted, delivered in order, and its outcome reported")
    func delivers() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", "b", in: folder, probe: probe).launched()
        let first = await test.accept()
        #expect(first?.description == "1:1")
        guard case .done(let outcome)? = await test.outcome("x") else {
            return #expect(Bool(false), "no outcome")
        }
        #expect(outcome.delivered == 2 && outcome.failed == 0 && outcome.overdue == 0)
        #expect(probe.received("a").count == 2 && probe.received("a") == probe.received("b"))
        #expect(probe.received("a").first == "1:1#1")
        #expect(await test.stopped() == .stopped)
        let cursor = try InboxCursor.load(from: InboxFolder(in: StateDirectory(path: folder.path)))
            .get()
        #expect(cursor.modules.isEmpty && cursor.attempts.isEmpty)
        // The next host has nothing to do.
        let again = Probe("delivers, again")
        let next = try await HostUnderTest.durable("a", "b", in: folder, probe: again).launched()
        _ = await next.outcome()
        #expect(again.received("a").count == 1)
        #expect(await next.stopped() == .stopped)
    }

    @Test(
        "the cursor passes an event that took longer than its delay, with nothing else to wake it")
    func slow() async throws {
        let (folder, probe, door) = (try TemporaryFolder(), Probe(), Door())
        probe.when("a push") { _ in door.pass() }
        let test = try HostUnderTest.durable(
            "a", in: folder, limits: Inbox.Limits(cursorDelay: .zero), probe: probe)
        let progress = try #require(test.inbox).progress
        let turns = Guarded(0)
        test.time.onLook = {
            guard threadName() == "inbox", progress.countInFlight > 0 else { return }
            // The cursor has been due many times, without this event.
            if turns.withLock({
                $0 += 1
                return $0
            }) == 100 {
                door.open()
            }
        }
        _ = try await test.launched()
        let place = try #require(await test.accept())
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        var next: EventPosition?
        while !Task.isCancelled, (next ?? place) <= place {
            next = try InboxCursor.load(from: inbox).get().next
            await Task.yield()
        }
        #expect(try #require(next) > place)
        test.time.onLook = nil
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a cursor that could not be stored is stored when it can be, with nothing else to wake it")
    func cursorInTheWay() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try HostUnderTest.durable(
            "a", in: folder, limits: Inbox.Limits(cursorDelay: .zero), probe: probe)
        try folder.move("inbox/cursor", to: "cursor")
        try makeFolders(folder.path("inbox/cursor"))
        _ = try await test.launched()
        _ = await test.outcome()
        _ = await test.recorder.first(containing: "cannot keep the cursor")
        try folder.move("inbox/cursor", to: "folder")
        _ = await test.recorder.first(containing: "can keep the cursor again")
        #expect(await test.stopped() == .stopped)
    }

    @Test("what was accepted before READY, or written by another program, comes in order")
    func foreign() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        _ = await test.accept()
        let writer = try folder.inboxWriter()
        _ = try writer.append([HostUnderTest.push(), HostUnderTest.push()])
        #expect(probe.received("a") == [])
        _ = try await test.launched()
        _ = await test.outcome()
        #expect(probe.received("a").count == 4)
        let last = try writer.append([HostUnderTest.push()])
        await probe.reached("a \(last[0])#1")
        #expect(probe.received("a").compactMap { EventPosition(String($0.dropLast(2))) }.isSorted)
        #expect(await test.stopped() == .stopped)
    }

    @Test("an id that is repeated is delivered once, whatever the sender and the time")
    func duplicates() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await test.outcome("x")
        #expect(await test.accept("x") == nil)
        let writer = try folder.inboxWriter()
        _ = try writer.append([HostUnderTest.push("x"), HostUnderTest.push("y")])
        _ = await test.outcome()
        #expect(probe.received("a").count == 3)
        #expect(test.inbox?.metrics.withLock { $0.duplicates } == 2)
        #expect(await test.stopped() == .stopped)
        let next = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await next.outcome()
        #expect(await next.accept("y") == nil)
        #expect(await next.stopped() == .stopped)
        #expect(probe.received("a").count == 4)
    }

    @Test("an id is known for two segments after the event is done, then the segment goes")
    func retention() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        var sizes = InboxLimits()
        (sizes.segment, sizes.line, sizes.excerpt) = (200, 1000, 100)
        let test = try await HostUnderTest.durable("a", in: folder, sizes: sizes, probe: probe)
            .launched()
        _ = await test.outcome("first")
        var number = 0
        func segments() throws -> [UInt32] {
            try InboxFolder(in: StateDirectory(path: folder.path)).segments()
        }
        while let last = try segments().last, try segments().first == 1 {
            // Its segment goes when the fourth is being worked off, which may have begun in this very moment.
            if last < 4, await test.accept("first") != nil {
                #expect(try segments().last.map { $0 >= 4 } == true)
            }
            number += 1
            _ = await test.outcome("\(number)")
            test.time.advance(by: .seconds(2))
        }
        #expect(await test.stopped() == .stopped)
        #expect(try segments().count >= 3 && number > 4)
    }

    @Test("a line that is not an event becomes a dead letter with its reason, and delays nothing")
    func rejects() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        let writer = try InboxWriter(inbox)
        _ = try writer.append([Array(#"{"event":"pusch"}"#.utf8), Array("no JSON".utf8)])
        _ = await test.outcome()
        #expect(probe.received("a").count == 1)
        let rejected = try DeadLetters(inbox).contents().events
        #expect(rejected.count == 2)
        #expect(
            rejected.first?.reason.hasPrefix("unknown event 'pusch'; did you mean 'push'?")
                == true)
        #expect(await test.stopped() == .stopped)
    }

    @Test("where a line cannot be put aside, nothing behind it is lost")
    func rejectingFails() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        // A folder of this name keeps the file from being written.
        try makeFolders(inbox.deadLettersPath)
        _ = try InboxWriter(inbox).append([HostUnderTest.push(), Array("no JSON".utf8)])
        _ = try await test.launched()
        _ = await test.accept()
        while test.inbox?.metrics.withLock({ $0.problem }) == nil { await test.settled() }
        #expect(probe.received("a") == [])
        try folder.move("inbox/dead-letters.ndjson", to: "inbox/elsewhere")
        test.time.advance(by: .seconds(2))
        _ = await test.outcome()
        #expect(probe.received("a").count == 3)
        #expect(try DeadLetters(inbox).contents().events.count == 1)
        // The inbox's thread clears the problem after it has passed on all lines that it read.
        while test.inbox?.metrics.withLock({ $0.problem }) != nil { await test.settled() }
        #expect(await test.stopped() == .stopped)
    }

    @Test("killed in an event: a module that received it does not receive it again, all others do")
    func killedInDelivery() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            if module.context.event?.id == "stall" { door.pass() }
        }
        let test = try await HostUnderTest.durable("a", "b", "c", in: folder, probe: probe)
            .launched()
        _ = await test.outcome("before")
        let place = try #require(await test.accept("stall"))
        _ = await test.accept("after")
        await probe.reached("b \(place)#1")
        let left = try folder.copied()
        door.open()
        #expect(await test.stopped() == .stopped)

        let again = Probe("killedInDelivery, again")
        let next = try await HostUnderTest.durable("a", "b", "c", in: left, probe: again).launched()
        _ = await next.outcome("last")
        #expect(again.received("a").count == 2)
        #expect(again.received("b").first == "\(place)#2" && again.received("b").count == 3)
        #expect(again.received("c") == again.received("b"))
        #expect(await next.stopped() == .stopped)
    }

    @Test(
        "after the machine went down, what may have been delivered before is marked, by every host")
    func machineDown() async throws {
        var folder = try TemporaryFolder()
        let first = Probe("machine down")
        let test = try await HostUnderTest.durable("a", in: folder, probe: first).launched()
        for id in ["1", "2"] { _ = await test.outcome(id) }
        // The machine goes down: only the cursor of the start is on the disk.
        folder = try folder.copied()
        #expect(await test.stopped() == .stopped)
        try removeFile(folder.path("blackbox"))

        let door = Door()
        for number in 1...2 {
            let probe = Probe("machine down, \(number)")
            probe.when("a push") { module in
                guard let event = module.context.event else { return }
                probe.note("\(event.id ?? "-") \(event.attempt) \(event.isRepeated)")
                if number == 1 { door.pass() }
            }
            let next = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
            if number == 1 {
                await probe.reached("1 1 true")
                // Killed in the first of them: the other one is still marked.
                folder = try folder.copied()
                door.open()
            } else {
                _ = await next.outcome("3")
                #expect(
                    probe.entries.filter { !$0.hasPrefix("a") }
                        == ["1 2 true", "2 1 true", "3 1 false"])
            }
            #expect(await next.stopped() == .stopped)
        }
    }

    @Test("killed three times in an event: it is put aside")
    func poison() async throws {
        var folder = try TemporaryFolder()
        for attempt in 1...3 {
            let (probe, door) = (Probe("poison \(attempt)"), Door())
            probe.when("a push") { module in
                module.noteEvent()
                door.pass()
            }
            let test = try await HostUnderTest.durable("a", "b", in: folder, probe: probe)
                .launched()
            if attempt == 1 { #expect(await test.accept("bad")?.description == "1:1") }
            await probe.reached("a 1:1#\(attempt)")
            folder = try folder.copied()
            door.open()
            #expect(await test.stopped() == .stopped)
        }
        let probe = Probe("poison, at the end")
        let test = try await HostUnderTest.durable("a", "b", in: folder, probe: probe).launched()
        _ = await test.outcome()
        #expect(probe.received("a").count == 1)
        let rejected = try DeadLetters(InboxFolder(in: StateDirectory(path: folder.path)))
            .contents().events
        #expect(rejected.map(\.reason) == ["the host died 3 times while this event was delivered"])
        #expect(rejected.map(\.id) == ["bad"] && rejected.map(\.attempt) == [3])
        #expect(await test.stopped() == .stopped)
    }

    @Test("an event that was rejected is retried for those alone that it was still for")
    func retriedForTheRest() async throws {
        var folder = try TemporaryFolder()
        for attempt in 1...3 {
            let (probe, door) = (Probe("retried for the rest \(attempt)"), Door())
            probe.when("b push") { module in
                module.noteEvent()
                door.pass()
            }
            let test = try await HostUnderTest.durable("a", "b", "c", in: folder, probe: probe)
                .launched()
            if attempt == 1 { #expect(await test.accept("bad")?.description == "1:1") }
            await probe.reached("b 1:1#\(attempt)")
            folder = try folder.copied()
            door.open()
            #expect(await test.stopped() == .stopped)
        }
        let probe = Probe("retried for the rest, at the end")
        let test = try await HostUnderTest.durable("a", "b", "c", in: folder, probe: probe)
            .launched()
        _ = await test.outcome("between")
        let inbox = InboxFolder(in: StateDirectory(path: folder.path))
        let rejected = try #require(try DeadLetters(inbox).contents().events.first)
        #expect(rejected.modules?.map(\.text) == ["x.b", "x.c"])
        let places = try InboxWriter(inbox).append([try rejected.lineForRetry()])
        let retried = try #require(places.first)
        _ = await test.outcome("last")
        #expect(probe.received("a").count == 2)
        for name in ["b", "c"] {
            #expect(probe.received(name).count == 3)
            #expect(probe.received(name).contains("\(retried)#1"))
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a stop leaves is for the next host")
    func stopLeaves() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let test = try HostUnderTest.durable("a", in: folder, probe: probe)
        let outcome = Promise<InboxSubmission.DeliveryResult?>()
        let fate = Promise<Void>()
        test.submit("x") { _ in
            fate.keep(())
        } onDelivery: {
            outcome.keep($0)
        }
        // A host that stops before it knows the ids of its inbox accepts no event with one.
        await fate.value
        // Never launched: it stops before its app is ready.
        try test.host.launch()
        #expect(await test.stopped() == .stopped)
        let isLeft = if case .left? = await outcome.value { true } else { false }
        let next = try await HostUnderTest.durable("a", in: folder, probe: probe).launched()
        _ = await next.outcome()
        #expect(await next.stopped() == .stopped)
        // A fast host may have been ready before it was asked to stop.
        #expect(probe.received("a").count == 2, "left: \(isLeft)")
        #expect(Set(probe.received("a")).count == 2)
    }

    @Test("killed while the route that answers a URL is at work: it is asked again")
    func killedInRoute() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.whenCalled("b half") { _, call in
            probe.note("asked")
            door.pass()
            return ""
        }
        let entries = [
            HostUnderTest.Entry(name: "a"), HostUnderTest.Entry(name: "b", type: "CallProbe"),
        ]
        let test = try await HostUnderTest(
            entries, top: #""schemes": ["x"]"#, folder: folder, probe: probe
        ).launched()
        let payload = try JSONValue(parsing: Array(#"{"url":"x://x.b/half/4"}"#.utf8))
        test.inbox?.submit(
            InboxSubmission(line: InboxRecord.line(.openURL, payload: payload), id: nil) { _ in })
        await probe.reached("asked")
        let left = try folder.copied()
        door.open()
        #expect(await test.stopped() == .stopped)
        let next = try await HostUnderTest(
            entries, top: #""schemes": ["x"]"#, folder: left, probe: probe
        ).launched()
        while probe.entries.filter({ $0 == "asked" }).count < 2 { await next.settled() }
        #expect(await next.stopped() == .stopped)
    }

    @Test("the order of the last slatefile decides which modules have received the current event")
    func reordered() async throws {
        let (folder, probe) = (try TemporaryFolder(), Probe())
        let door = Door()
        probe.when("b push") { module in
            module.noteEvent()
            door.pass()
        }
        let test = try await HostUnderTest.durable("a", "b", "c", in: folder, probe: probe)
            .launched()
        let place = try #require(await test.accept())
        await probe.reached("b \(place)#1")
        let left = try folder.copied()
        door.open()
        #expect(await test.stopped() == .stopped)
        let again = Probe("reordered, again")
        let next = try await HostUnderTest.durable("c", "a", "b", in: left, probe: again).launched()
        _ = await next.outcome()
        #expect(again.received("a").count == 1)
        #expect(again.received("b").count == 2 && again.received("c").count == 2)
        #expect(await next.stopped() == .stopped)
    }
}

extension Array where Element: Comparable {
    fileprivate var isSorted: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
