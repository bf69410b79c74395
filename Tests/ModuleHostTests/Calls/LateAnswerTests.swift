import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Answers that come later", .timeLimit(.minutes(10)))
struct LateAnswerTests {
    private func host(top: String = "", probe: Probe) async throws -> HostUnderTest {
        try await HostUnderTest(
            [.init(name: "a", type: "CallProbe"), .init(name: "l", type: "LateProbe")],
            top: #""schemes": ["app"]"# + (top.isEmpty ? "" : ", " + top), probe: probe
        ).launched()
    }

    private func keep(_ name: String, _ probe: Probe, _ text: String = "done") {
        LateProbe.promise(name, of: probe).keep(text)
    }

    @Test("an asynchronous handler answers when it returns, and other calls enter before")
    func later() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        await probe.reached("await one")
        #expect(await test.call("x.l", "at-once") == "2")
        #expect(probe.entries == ["await one", "at-once"])
        keep("one", probe)
        let answered = await reply
        #expect(answered == #""done control from pid 42 (uid 1000)""#)
        #expect(probe.entries == ["await one", "at-once", "resume one"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a handler that does not suspend is done within the call")
    func atOnce() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        let jobs = LockedList<String>()
        test.host.call("x.l", "at-once", [:], origin: .host, token: nil) { _ in
            jobs.append("answer")
        }
        test.host.onLane { _, _ in jobs.append("next job") }
        await test.settled()
        #expect(jobs.values == ["answer", "next job"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a URL that comes as an event, and one that a module opens, wait for the answer")
    func url() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        async let reply = test.open("app://x.l/await?name=one")
        await probe.reached("await one")
        keep("one", probe)
        let answered = await reply
        #expect(answered == #""done control from pid 42 (uid 1000)""#)
        #expect(
            test.recorder.messages.contains("answered by x.l, route 'await'"))
        #expect(await test.stopped() == .stopped)
    }

    @Test("a synchronous caller is refused before the handler runs, and learns what to use")
    func synchronous() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        let error =
            "'at-once' of x.l answers later, and a synchronous call cannot wait for that: pass a completion, or "
            + "use 'await' in an asynchronous handler or with offLane"
        for way in 0..<2 {
            let text = try await test.asFirst { module in
                switch way {
                case 0: "\(try module.context.mediator.perform("x.l", "at-once"))"
                default: "\(try module.context.router.open("app://x.l/at-once"))"
                }
            }
            #expect(text == error)
        }
        #expect(probe.entries == [])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a completion, a caller off the lane and an asynchronous handler receive the answer")
    func callers() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        let completed = Promise<String>()
        let offLane = Promise<AsyncMediator>()
        _ = try await test.asFirst { module in
            offLane.keep(module.context.mediator.offLane)
            module.context.mediator.perform("x.l", "await", ["name": "one"]) { result in
                completed.keep("\((try? result.get()) ?? "failed")")
            }
            return ""
        }
        await probe.reached("await one")
        keep("one", probe)
        #expect(await completed.value == "done x.a")
        keep("two", probe)
        let mediator = await offLane.value
        #expect(
            try await mediator.perform("x.l", "await", ["name": "two"], as: String.self)
                == "done x.a")
        keep("three", probe)
        let asked = await test.callAsHost("x.l", "ask", ["name": "three"])
        #expect(asked == #""done x.l 7""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("errors of the handler and of its parameters reach the caller")
    func errors() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        keep("bad", probe, "throw")
        #expect(await test.call("x.l", "await", ["name": "bad"]) == "x.l: broken")
        let missing = await test.call("x.l", "await")
        #expect(missing == "parameter 'name' is missing: expected text")
        #expect(await test.call("x.l", "refuse") == "no action 'refuse' of 'x.l'")
        let refused = await test.callAsHost("x.l", "refuse")
        #expect(refused == "x.l: refused")
        #expect(await test.callAsHost("x.l", "nothing") == "null")
        #expect(await test.stopped() == .stopped)
    }

    @Test("an answer that does not come in time is an error, and the handler's task is cancelled")
    func deadline() async throws {
        let probe = Probe()
        let test = try await host(top: #""deadlines": {"call": "3s"}"#, probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        async let limited = test.call("x.l", "limited", ["name": "two"])
        await probe.reached("await one")
        await test.settled()
        await test.pass(.seconds(2))
        #expect(await limited == "x.l did not answer 'limited' within 2s")
        await test.pass(.seconds(1))
        #expect(await reply == "x.l did not answer 'await' within 3s")
        keep("one", probe)
        await probe.reached("resume one cancelled")
        #expect(await test.call("x.l", "at-once") == "3")
        #expect(await test.stopped() == .stopped)
    }

    @Test(
        "a cancelled call ends: the task of its handler is cancelled; one that has not begun is not made"
    )
    func cancelled() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        let (first, second) = (Promise<String>(), Promise<String>())
        let cancelFirst = test.host.call(
            "x.l", "await", ["name": "one"], origin: .control(uid: 1000, pid: 42), token: nil
        ) { first.keep("\($0)") }
        await probe.reached("await one")
        // Not before the handler waits: one that goes on at once ends before its task is cancelled.
        await test.settled()
        cancelFirst()
        #expect(await first.value.contains("cancelled"))
        keep("one", probe)
        await probe.reached("resume one cancelled")
        let release = Promise<Void>()
        test.host.onLane { _, _ in release.wait() }
        let cancelSecond = test.host.open(
            "app://x.l/await?name=two", origin: .control(uid: 1000, pid: 42), token: nil
        ) { second.keep("\($0)") }
        cancelSecond()
        #expect(await second.value.contains("cancelled"))
        release.keep(())
        #expect(await test.call("x.l", "at-once") == "3")
        #expect(probe.entries == ["await one", "resume one cancelled", "at-once"])
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reply is answered once, by a value or an error, and its release is an error")
    func reply() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        for (route, expected) in [
            ("answer", #""answer answer""#), ("fail", "x.l: broken"),
            ("release", "'reply' was not answered: its handler has released its Reply"),
        ] {
            async let reply = test.call("x.l", "reply", ["key": route])
            await probe.reached("reply \(route)")
            _ = await test.callAsHost("x.l", route, ["key": route])
            #expect(await reply == expected)
        }
        #expect(await test.stopped() == .stopped)
    }

    @Test("an answer on offer that no route takes is never given")
    func unused() {
        let answers = LockedList<String>()
        var late: LateAnswer? = LateAnswer { answers.append("\($0)") }
        #expect(late?.isTaken == false)
        late = nil
        #expect(answers.values == [])
    }

    /// Begins a call of the route `reply`, and calls `body` on the lane.
    private func begin(
        _ late: LateAnswer, _ body: @escaping @Sendable (ModulePlace, Reply<String>) -> Void
    ) async throws {
        let test = try await host(probe: Probe())
        let done = Promise<Void>()
        test.host.onLane { app, _ in
            guard let record = app.records.last, let place = record.place, let calls = app.calls,
                let entry = calls.table.routes.first(where: { $0.route.action == "reply" })
            else { return }
            late.begin(entry, at: place, wantsJSON: false, within: .seconds(1))
            body(place, Reply<String>(to: late, of: "reply"))
            done.keep(())
        }
        await done.value
        #expect(await test.stopped() == .stopped)
    }

    @Test("the second answer to a call counts for nothing", arguments: [false, true])
    func twice(isAwaited: Bool) async throws {
        let answers = LockedList<String>()
        let late = LateAnswer { answers.append("\((try? $0.get()) ?? "failed")") }
        try await begin(late) { place, reply in
            #expect(place.pendingCount == 0)
            if isAwaited {
                late.awaitAnswer()
                late.awaitAnswer()
                #expect(place.pendingCount == 1)
            }
            #expect(reply.send("first"))
            #expect(!reply.send("second"))
            #expect(!reply.fail(TestError()))
            late.awaitAnswer()
            #expect(place.pendingCount == 0)
        }
        #expect(answers.values == ["first"])
    }

    @Test(
        "the deadline counts from the call, also where the clock moves before the handler returns")
    func deadlineFromTheCall() async throws {
        let answers = LockedList<String>()
        let late = LateAnswer { answers.append("\($0)") }
        try await begin(late) { place, reply in
            (place.time as? ManualTimeSource)?.advance(by: .seconds(1))
            late.awaitAnswer()
            #expect(!reply.send("late"))
            #expect(place.pendingCount == 0)
        }
        #expect(answers.values.count == 1)
        #expect(answers.values.first?.contains("x.l did not answer 'reply' within 1s") == true)
    }

    @Test("a module that was unloaded in the handler of a call does not answer it any more")
    func unloadedMeanwhile() async throws {
        let answers = LockedList<String>()
        let late = LateAnswer { answers.append("\($0)") }
        try await begin(late) { place, reply in
            let cancelled = LockedList<Int>()
            late.whenCancelled { cancelled.append(1) }
            place.close()
            #expect(answers.values == [])
            late.awaitAnswer()
            #expect(cancelled.values == [1])
            #expect(!reply.send("late"))
        }
        #expect(answers.values.count == 1)
        #expect(answers.values.first?.contains("it was unloaded before it answered") == true)
    }

    @Test(
        "a module that is overdue in one slice runs the next ones when it returns, on its own thread"
    )
    func overdueSlice() async throws {
        let probe = Probe()
        let door = probe.close("resume one")
        let test = try await host(probe: probe)
        async let first = test.call("x.l", "await", ["name": "one"])
        async let second = test.call("x.l", "await", ["name": "two"])
        await probe.reached("await one")
        await probe.reached("await two")
        keep("one", probe)
        await probe.reached("resume one")
        test.overrun()
        #expect(await test.call("x.a", "sum", ["left": 1, "right": 2]) == "3")
        keep("two", probe)
        // The lane has seen the slice, and left it to the thread that is stuck.
        await test.deferred(1)
        #expect(probe.entries("two") == ["await two"])
        door.open()
        #expect(await first == #""done control from pid 42 (uid 1000)""#)
        #expect(await second == #""done control from pid 42 (uid 1000)""#)
        #expect(await test.stopped() == .stopped)
    }

    @Test("the module overdue before its first suspension fails the call at its deadline")
    func overdueFirstSlice() async throws {
        let probe = Probe()
        let door = probe.close("await one")
        let test = try await host(probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        await probe.reached("await one")
        test.overrun()
        #expect(await reply == "x.l took too long to answer, and is unresponsive")
        keep("one", probe)
        door.open()
        await probe.reached("resume one")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a reload that removes the module ends its calls, and what they left runs, cancelled")
    func unloaded() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        await probe.reached("await one")
        let outcome = try await test.reload(
            [.init(name: "a", type: "CallProbe")], top: #""schemes": ["app"]"#)
        #expect(outcome.text == "applied: removed x.l")
        #expect(
            await reply == "x.l cannot be called now: it was unloaded before it answered")
        keep("one", probe)
        await probe.reached("resume one cancelled")
        await probe.reached("gone")
        #expect(await test.stopped() == .stopped)
    }

    @Test("a handler that hangs after its module was unloaded is named, and others go on")
    func hangsUnloaded() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        await probe.reached("await one")
        let outcome = try await test.reload(
            [.init(name: "a", type: "CallProbe")], top: #""schemes": ["app"]"#)
        #expect(outcome.text == "applied: removed x.l")
        _ = await reply
        let door = probe.close("resume one cancelled")
        keep("one", probe)
        await probe.reached("resume one cancelled")
        test.overrun()
        #expect(await test.call("x.a", "sum", ["left": 1, "right": 2]) == "3")
        let errors = test.recorder.records.filter { $0.level == .error }
        #expect(
            errors.map(\.message) == [
                "unresponsive after it was unloaded: one of its tasks did not return in time; "
                    + "delivery continues without it"
            ])
        #expect(errors.map(\.module) == ["x.l"])
        door.open()
        #expect(await test.stopped() == .stopped)
    }

    @Test("what a stop leaves of a handler runs after the lane has ended, cancelled")
    func afterTheEnd() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        async let reply = test.call("x.l", "await", ["name": "one"])
        async let opened = test.open("app://x.l/await?name=two")
        await probe.reached("await one")
        await probe.reached("await two")
        #expect(await test.stopped() == .stopped)
        #expect(await reply == "the app stopped before x.l answered")
        #expect(await opened == "the app stopped before x.l answered")
        test.host.gate.lane.close()
        keep("one", probe)
        keep("two", probe)
        await probe.reached("resume one cancelled")
        await probe.reached("gone")
    }

    @Test("what a stop leaves of a handler runs, too, if its module hung until after the end")
    func afterReturnAtEnd() async throws {
        let probe = Probe()
        let door = probe.close("await one")
        let test = try await host(probe: probe)
        async let first = test.call("x.l", "await", ["name": "two"])
        await probe.reached("await two")
        async let second = test.call("x.l", "await", ["name": "one"])
        await probe.reached("await one")
        test.overrun()
        #expect(await second == "x.l took too long to answer, and is unresponsive")
        test.host.stop(because: "the test is over")
        _ = await test.recorder.first(containing: "the stop waits 10s at most")
        test.time.advance(by: .seconds(10))
        #expect(await test.end() == .stopped)
        door.open()
        let lane = test.host.gate.lane
        while lane.hasStalledThreads() { await Task.yield() }
        keep("one", probe)
        keep("two", probe)
        // The end cancels it, where the module is back by then.
        let answers = [
            #""done control from pid 42 (uid 1000)""#, "the app stopped before x.l answered",
        ]
        let reply = await first
        #expect(answers.contains(reply), "\(reply)")
        await probe.reached("gone")
    }

    @Test("slices of one module never run beside each other")
    func confined() async throws {
        let probe = Probe()
        let test = try await host(probe: probe)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { _ = await test.callAsHost("x.l", "many", ["key": "\(number)"]) }
            }
        }
        #expect(await test.callAsHost("x.l", "count") == "1000")
        #expect(await test.stopped() == .stopped)
    }
}

extension HostUnderTest {
    /// Waits until so many pieces of work wait for modules that are overdue.
    fileprivate func deferred(_ count: Int) async {
        while host.gate.lane.state.withLock({ state in
            state.mailboxes.entries.values.reduce(0) { $0 + $1.deferred.count }
        }) < count { await Task.yield() }
    }

    /// Calls an action as the host itself.
    fileprivate func callAsHost(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters()
    ) async -> String {
        await withCheckedContinuation { continuation in
            host.call(module, action, parameters, origin: .host, token: nil) { result in
                switch result {
                case .success(.json(let json)):
                    continuation.resume(returning: String(decoding: json, as: UTF8.self))
                case .success(.claimed(let module)):
                    continuation.resume(returning: "claimed by \(module)")
                case .failure(let error): continuation.resume(returning: "\(error)")
                }
            }
        }
    }
}
