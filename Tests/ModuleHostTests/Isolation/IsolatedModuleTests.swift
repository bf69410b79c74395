import AppService
import Glibc
import TestSupport
import Testing

@testable import ModuleHost

@Suite("Modules of other processes")
struct IsolatedModuleTests {
    @Test("one hears what it wants to, in its place among the others, and ends with the host")
    func life() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        try test.host.deliver(.push, #"{"aps": {"badge": 1}}"#)
        try test.host.deliver(.message, #"{"topic": "news", "payload": [1, "two"]}"#)
        try test.host.deliver(.background)
        // It does not want to hear of these.
        try test.host.deliver(.memoryWarning)
        await test.host.settled()
        #expect(await test.process?.processID != nil)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            try test.heard == ["launch", "push", "message news", "background", "terminate"])
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

    @Test("one that dies in an event comes back, and hears it again; the others go on meanwhile")
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
            try test.heard.drop { $0 != "launch again" }
                == ["launch again", "push again", "message news", "background", "terminate"])
    }

    @Test("one that dies with nothing in hand comes back by itself")
    func diesIdle() async throws {
        let probe = Probe()
        let test = try await IsolatedTest(probe: probe).launched()
        try test.host.deliver(.background)
        await test.host.settled()
        let first = await test.process?.processID
        kill(try #require(first), SIGKILL)
        await test.revived()
        let process = await test.process
        #expect(process?.processID != first)
        #expect(process?.restarts == 1)
        #expect(await test.host.stopped() == .stopped)
        #expect(
            try test.heard
                == ["launch", "background", "launch again", "background again", "terminate"])
        #expect(
            test.log() == [
                "process N was killed by SIGKILL; it is started again",
                "late meanwhile: the others go on; it catches up",
            ])
    }

    @Test("a URL that came from nowhere known is not opened as its own")
    func unknownOrigin() async throws {
        let probe = Probe()
        let ask = { (method: String, origin: String) in
            #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","#
                + #""params":{"url":"test://x.a/act","origin":"\#(origin)"}}"#
        }
        // A program that says what the rest of its words are when it is called, and replies the answers.
        let program = """
            while IFS= read -r line; do
                id=${line#*'"id":'} id=${id%%,*}
                case $line in
                *'"method":"initialize"'*)
                    result='{"protocol":1,"module":"x.b","routes":[{"pattern":"ask"}]}' ;;
                *'"method":"call"'*)
                    result=
                    for request; do
                        printf '%s\\n' "$request"
                        IFS= read -r answer
                        result=$result${result:+,}$answer
                    done
                    result=[$result] ;;
                *) result=null ;;
                esac
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
            done
            """
        let requests = [
            ask("open", "host"), ask("open", "x.c"), ask("open", "push"), ask("open", "pussh"),
            ask("canopen", "host"), ask("canopen", "push"), ask("canopen", "pussh"),
        ]
        let host = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a", type: "CallProbe"),
                HostUnderTest.Entry(
                    name: "b", command: ["/bin/sh", "-c", program, "sh"] + requests),
            ], top: #""schemes": ["test"]"#, processes: .quick, probe: probe
        ).launched()
        let answers = try await host.asFirst {
            try $0.context.router.value(for: "test://x.b/ask", as: JSONValue.self).text
        }
        let refusal =
            #"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid params","#
            + #""data":"no origin 'pussh': give the one of the event or call that the URL came with"}}"#
        let lines = try JSONValue(parsing: answers).elements.map(\.text)
        #expect(
            lines == [
                #"{"jsonrpc":"2.0","id":7,"result":{"reply":""}}"#,
                #"{"jsonrpc":"2.0","id":7,"result":{"reply":""}}"#,
                #"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no route for "#
                    + #"'test://x.a/act'; did you mean 'test://x.a/sum'?","data":"test://x.a/sum"}}"#,
                refusal,
                #"{"jsonrpc":"2.0","id":7,"result":true}"#,
                #"{"jsonrpc":"2.0","id":7,"result":false}"#,
                refusal,
            ])
        #expect(await host.stopped() == .stopped)
    }
}
