import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules of other processes")
struct IsolatedModuleTests {
    @Test("a module receives what it wants, in its place among the others, and ends with the host")
    func life() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        try test.host.deliver(.push, #"{"aps": {"badge": 1}}"#)
        try test.host.deliver(.message, #"{"topic": "news", "payload": [1, "two"]}"#)
        try test.host.deliver(.background)
        // It does not want to receive these.
        try test.host.deliver(.memoryWarning)
        await test.host.settled()
        #expect(await test.process?.processID != nil)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            try test.received == ["launch", "push", "message news", "background", "terminate"])
        #expect(test.log() == [])
    }

    @Test("its routes are called by name, by URL and with what they ask for")
    func routes() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(top: #""schemes": ["test"]"#, probe: probe).launched()
        #expect(await test.call("echo", ["text": "Grüße"]) == #"{"text":"Grüße"}"#)
        #expect(
            await test.call("echo")
                == "parameter 'text' is missing: expected text")
        #expect(
            await test.call("ecko", ["text": "a"])
                == "no action 'ecko' of 'x.b'; did you mean 'echo'?")
        let reply = try await test.host.asFirst {
            try $0.context.router.value(for: "test://x.b/echo/a%20b?more=1", as: JSONValue.self)
                .text
        }
        #expect(reply == #"{"text":"a b","more":"1"}"#)
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("objects stay in the host")
    func objects() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        let outcome = try await test.host.asFirst {
            "\(try $0.context.mediator.perform("x.b", "echo", ["text": "a"], userInfo: ["v": 1, "d": 2]))"
        }
        #expect(
            outcome
                == "it runs in a process of its own, which objects do not reach: 'd', 'v'")
        #expect(await test.host.stopped() == .stopped)
    }

    @Test("a module that dies in an event comes back, and receives it again; the others go on")
    func diesInEvent() async throws {
        let probe = Probe()
        let test = try await IsolatedTest("exit-in-event", "--after", "1", "--once", probe: probe)
            .launched()
        try test.host.deliver(.push, "{}")
        try test.host.deliver(.message, #"{"topic": "news"}"#)
        await test.revived()
        await test.host.settled()
        #expect(probe.entries("c").contains("c message"))
        let process = await test.process
        #expect(process?.restarts == 1)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            try test.received.drop { $0 != "launch again" }
                == ["launch again", "push again", "message news", "background", "terminate"])
    }

    @Test("one that dies with nothing in hand comes back by itself")
    func diesIdle() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        try test.host.deliver(.background)
        await test.host.answered()
        let first = await test.process?.processID
        kill(try #require(first), SIGKILL)
        await test.revived()
        let process = await test.process
        #expect(process?.processID != first)
        #expect(process?.restarts == 1)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            try test.received
                == ["launch", "background", "launch again", "background again", "terminate"])
        #expect(
            test.log() == [
                "process N was killed by SIGKILL; it is started again",
                "unresponsive for now: delivery continues without it",
            ])
    }
}
