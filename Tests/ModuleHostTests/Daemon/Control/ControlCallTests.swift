import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What the control socket makes of the outcome of a call.
@Suite("Control calls", .timeLimit(.minutes(10)))
struct ControlCallTests {
    @Test("each error has the code of its kind, and its own text")
    func errors() throws {
        let id = try ModuleID("x.a")
        let parameter = ParameterError(name: "style", kind: .repeated(2))
        let url = RouteURLError(.escape, at: 7)
        let rows: [(any Error, RPCErrorCode)] = [
            (RouteError.notFound(url: "a://b", nearest: nil), .notFound),
            (RouteError.noAction("b", of: "a", nearest: "c"), .notFound),
            (RouteError.malformed(url), .malformedURL),
            (RouteError.parameter(parameter), .badParameter),
            (parameter, .badParameter),
            (RouteError.refused(by: id, "closed"), .notPermitted),
            (RouteError.overdue(id), .overdue),
            (RouteError.tookTooLong(id), .overdue),
            (RouteError.unavailable(id, because: "it was removed"), .unavailable),
            (RouteError.tooDeep([id, id]), .failed),
            (RouteError.stopped, .notRunning),
            (RouteError.cancelled, .cancelled),
            (RouteError.rewriteLoop(["a://b", "a://c"]), .internalError),
        ]
        for (error, code) in rows {
            #expect(RPCError(ofCall: error) == RPCError(code, "\(error)"))
        }
        #expect(
            RPCError(ofCall: HandlerFailure(module: id, error: TestError()))
                == RPCError(.failed, "x.a failed: broken"))
        #expect(RPCError(ofCall: TestError()) == .internalError("broken"))
    }

    /// What a host answers to a call of a method.
    private func answer(
        to method: String, _ parameters: String, from host: AppHost
    ) async throws -> String {
        var methods = ControlMethods()
        methods.addCalls(to: host)
        let answer = Promise<String>()
        methods.receive(method, parameters) {
            answer.keep(String(decoding: $0.dropFirst(24).dropLast(), as: UTF8.self))
        }
        return await answer.value
    }

    @Test("parameters that a method does not take")
    func parameters() async throws {
        let test = try HostUnderTest("a", probe: Probe())
        let rows: [(String, String, String)] = [
            ("open", "{}", "missing key 'url'"),
            ("open", #"{"url":"a://b","tokn":"x"}"#, "unknown key 'tokn'; did you mean 'token'?"),
            ("canopen", #"{"url":7}"#, "/url: expected a string, found the number 7"),
            // Whatever stands for a token is not shown.
            ("open", #"{"url":"a://b","token":4711}"#, "/token: a token is a string"),
            ("open", #"{"url":"a://b","token":["secret"]}"#, "/token: a token is a string"),
            ("call", #"{"module":"a"}"#, "missing key 'action'"),
            (
                "call", #"{"module":"a","action":"b","parameters":[1]}"#,
                "/parameters: expected an object, found an array"
            ),
            ("post", #"{"topic":"t","token":"x"}"#, "unknown key 'token'"),
            ("post", #"{"topic":""}"#, ""),
        ]
        for (method, parameters, text) in rows {
            let answer = try await answer(to: method, parameters, from: test.host)
            #expect(
                answer.contains(#""error":{"code":-32602,"message":"Invalid params","data":"#),
                "\(answer)")
            #expect(answer.contains(text), "\(answer)")
            #expect(!answer.contains("secret") && !answer.contains("4711"), "\(answer)")
        }
        test.host.gate.lane.close()
    }

    @Test(
        "of a flood of failures the first twenty are logged, then one a second with the number of the others"
    )
    func flood() async throws {
        let test = try HostUnderTest("a", probe: Probe())
        let time = ManualTimeSource()
        let recorder = LogRecorder()
        let ring = try RecordRing(inMemory: RecordRing.sizes.lowerBound)
        var methods = ControlMethods()
        methods.addCalls(to: test.host)
        methods.logFailures(to: recorder.log, time: time, ring: ring)
        func call() {
            var session = RPCSession()
            session.receive(Array("{\"jsonrpc\":\"2.0\",\"method\":\"post\"}\n".utf8)[...])
            _ = session.takeLines(upTo: 1) { _, ticket in
                methods["post"]?(
                    ControlMethods.Call(
                        peer: SocketPeer(processID: 4711, userID: 1000, groupID: 0),
                        parameters: try? JSONValue(parsing: #"{"topic":""}"#),
                        reply: RPCReply(to: ticket) { _, _ in }))
            }
        }
        for _ in 0..<1000 { call() }
        #expect(recorder.records.count == 20)
        #expect(
            recorder.records.first?.message
                == "post on topic '' failed: Invalid params: "
                + "event 'message' needs a topic, such as user.signed-in")
        time.advance(by: .seconds(1))
        call()
        call()
        #expect(recorder.records.count == 21)
        #expect(
            recorder.records.last?.message.hasPrefix(
                "post on topic '' failed (980 earlier errors omitted): ") == true)
        let facts = try #require(ring.contents).last(9).map(\.fact)
        #expect(facts.count == 1)
        guard case .requestsFailed(981, let last, 4711) = facts[0] else {
            Issue.record("\(facts)")
            return
        }
        #expect(last.hasPrefix("post on topic '' by control from pid 4711"))
        test.host.gate.lane.close()
    }

    @Test("a host that has ended says so")
    func ended() async throws {
        let test = try await HostUnderTest("a", probe: Probe()).launched()
        #expect(await test.stopped() == .stopped)
        for (method, parameters) in [
            ("open", #"{"url":"a://b"}"#), ("canopen", #"{"url":"a://b"}"#),
            ("call", #"{"module":"x.a","action":"b"}"#), ("post", #"{"topic":"t"}"#),
        ] {
            #expect(
                try await answer(to: method, parameters, from: test.host)
                    == #""error":{"code":-32000,"message":"the host has stopped"}"#)
        }
    }
}
