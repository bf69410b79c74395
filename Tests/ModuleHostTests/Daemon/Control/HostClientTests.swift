import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Host client", .timeLimit(.minutes(10)))
struct HostClientTests {
    private func error(_ directory: StateDirectory) -> HostClientError? {
        do throws(HostClientError) {
            _ = try HostClient(to: directory)
            return nil
        } catch {
            return error
        }
    }

    @Test("no host: no folder, no socket, or a dead host's")
    func notRunning() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path("state"))
        #expect(error(directory) == .notRunning(directory))
        try makeFolders(directory.path)
        #expect(error(directory) == .notRunning(directory))
        _ = try LocalSocket.listen(at: directory.path(of: "control.sock"))
        #expect(error(directory) == .notRunning(directory))
        #expect(error(directory)?.exitCode == .unavailable)
        #expect(error(StateDirectory(path: "/proc/version"))?.exitCode == .unavailable)
    }

    @Test("a host that has no socket yet")
    func starting() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path("state"))
        let claim = try PidFile(claiming: directory)
        let expected = HostClientError.notListening(directory, processID: getpid())
        #expect(error(directory) == expected)
        #expect(expected.exitCode == .busy)
        withExtendedLifetime(claim) {}
    }

    @Test("a call, its error, and what comes between")
    func calls() throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let result = try client.call("greet") { $0.object { $0.member("name", "Ada") } }
        #expect(result.string == "hello Ada")
        do throws(HostClientError) {
            _ = try client.call("greet")
            Issue.record("no error")
        } catch {
            #expect(error.exitCode == .usage)
            #expect("\(error)" == "Invalid params: missing key 'name'")
        }
        _ = try client.call("tail")
        served.tail.log(1)
        // Comes before the answer, or after it.
        #expect(try client.call("ping").string == "pong")
        let event = try #require(client.nextNotification())
        #expect(event.method == "event")
        #expect(event.parameters?["n"]?.int == 1)
    }

    @Test("a host that ends before it answers")
    func ended() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        #expect(client.waitForEnd(within: .zero) == false)
        served.server.stop()
        #expect(throws: HostClientError.ended(served.directory)) { try client.call("ping") }
        #expect(client.waitForEnd(within: nil))
        #expect(client.nextNotification() == nil)
    }

    @Test("a host that turns the connection away before the first call")
    func turnedAway() throws {
        let directory = StateDirectory(path: ".hostd")
        let (host, client) = try LocalSocket.pair(nonblocking: true)
        let connection = try ClientConnection(Descriptor(owning: client), to: directory)
        let line = #"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no room"}}"# + "\n"
        let hostEnd = Descriptor(owning: host)
        #expect(try hostEnd.send(Array(line.utf8)[...]) == line.utf8.count)
        hostEnd.endSending()
        let end = BlockingFuture<Bool>()
        connection.whenEnded { end.keep(true) }
        #expect(end.take() == true)
        let answer = BlockingFuture<Result<JSONValue, HostClientError>>()
        connection.call("ping", as: connection.nextID(), within: nil) {
            $0.object { _ in }
        } completion: {
            answer.keep($0)
        }
        guard case .failure(.refused(let error))? = answer.take() else {
            Issue.record("not refused")
            return
        }
        #expect("\(error)" == "no room")
    }

    @Test("a host that does not answer in time")
    func timedOut() throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let error = HostClientError.noResponse(
            served.directory, to: "hold", within: .milliseconds(1))
        #expect(throws: error) { try client.call("hold", within: .milliseconds(1)) }
        // Its answer, when it comes, is not taken for another's.
        var held = served.held.takeAll()
        while held.isEmpty {
            try served.settle()
            held = served.held.takeAll()
        }
        held[0].reply.succeed { $0.value("late") }
        #expect(try client.call("ping").string == "pong")
    }

    @Test("what is said, and how a command ends")
    func texts() {
        let directory = StateDirectory(path: ".hostd")
        let rows: [(HostClientError, ExitCode, String)] = [
            (.notRunning(directory), .unavailable, "no host runs on the state directory '.hostd'"),
            (
                .notListening(directory, processID: 7), .busy,
                "the host (process 7) on the state directory '.hostd' is starting or stopping, or its "
                    + "socket was removed; try again, or stop it with 'kill -TERM 7'"
            ),
            (
                .notListening(directory, processID: nil), .busy,
                "the host on the state directory '.hostd' is starting or stopping, or its socket was "
                    + "removed; try again"
            ),
            (
                .notPermitted(directory), .notPermitted,
                "the host on the state directory '.hostd' is another user's; only that user and "
                    + "root may control it"
            ),
            (
                .failed(directory, .noSpace), .inputOutput,
                "cannot reach the host on the state directory '.hostd': No space left on device"
            ),
            (
                .timedOut(directory), .busy,
                "the host on the state directory '.hostd' does not answer"
            ),
            (
                .noResponse(directory, to: "reload", within: .seconds(35)), .busy,
                "the host on the state directory '.hostd' did not answer 'reload' within 35s; "
                    + "it may still carry that out"
            ),
            (
                .noResponse(directory, to: "status", within: .seconds(30)), .busy,
                "the host on the state directory '.hostd' did not answer 'status' within 30s"
            ),
            (
                .cancelled(directory, request: "call"), .busy,
                "cancelled before the host on the state directory '.hostd' answered 'call'; "
                    + "it may still carry that out"
            ),
            (
                .ended(directory), .inputOutput,
                "the host on the state directory '.hostd' closed the connection before it answered"
            ),
            (
                .malformed(directory), .inputOutput,
                "what answers on '.hostd/control.sock' is not a host of this version"
            ),
            (.refused(RPCError(.overdue, "late", detail: "x")), .busy, "late: x"),
        ]
        for (error, exitCode, text) in rows {
            #expect(error.exitCode == exitCode)
            #expect("\(error)" == text)
        }
    }

    @Test(
        "a module that hangs in init has failed and is unresponsive, and is named once with a time")
    func statusOfHanging() throws {
        var metrics = HostMetrics()
        let id = try ModuleID("x.h")
        (metrics.overdue, metrics.overdueSince) = ([id], [WallTime(seconds: 1)])
        metrics.take([id], since: [WallTime(seconds: 2)])
        let identity = HostIdentity(
            app: "Demo", slatefile: "slatefile.json", stateDirectory: ".hostd",
            startedAt: WallTime(seconds: 0), stopTime: .seconds(40))
        var json = JSONWriter()
        HostStatus(identity, metrics).write(to: &json)
        let status = try JSONValue(parsing: json.bytes)
        #expect(status["since"]?.text == #"{"x.h":"1970-01-01T00:00:02.000Z"}"#)
        #expect(
            status["unresponsive"]?.text == #"["x.h"]"# && status["failed"]?.text == #"["x.h"]"#)
    }

    @Test("status, modules and stop of a host")
    func controlledHost() throws {
        struct Still: ControlledHost {
            var disabled: [Slatefile.Module] { [] }

            var identity: HostIdentity {
                var identity = HostIdentity(
                    app: "Demo", slatefile: "slatefile.json", stateDirectory: ".hostd",
                    startedAt: WallTime(seconds: 0), stopTime: .seconds(40))
                identity.processID = 7
                return identity
            }

            func status() -> HostStatus {
                var metrics = HostMetrics()
                metrics.state = .active
                metrics.readyAfter = .microseconds(1500)
                for _ in 1...3 { metrics.count(.push) }
                let id = try? ModuleID("com.mm.main")
                metrics.overdue = id.map { [$0] } ?? []
                metrics.overdueSince = [WallTime(seconds: 2)]
                metrics.stateSince = WallTime(seconds: 1)
                var status = HostStatus(identity, metrics)
                if let id {
                    status.holds = [
                        OpenHold(
                            module: id, step: .background, reason: "upload",
                            remaining: .seconds(8))
                    ]
                }
                return status
            }

            func modules(
                _ completion: @escaping @Sendable (Result<[ModuleStatus], RPCError>) -> Void
            ) {
                guard let id = try? ModuleID("com.mm.main") else { return }
                var failed = ModuleStatus(
                    id: id, entry: "Modules.MainModule", state: .failed,
                    since: WallTime(seconds: 1))
                failed.reason = "threw"
                var overdue = ModuleStatus(
                    id: id, entry: "Modules.MainModule", state: .overdue,
                    since: WallTime(seconds: 2))
                overdue.behind = 2
                overdue.holds = [
                    OpenHold(module: id, step: .background, reason: "upload", remaining: nil)
                ]
                completion(.success([failed, overdue]))
            }

            func stop(
                _ request: StopRequest, for peer: SocketPeer,
                _ completion: @escaping @Sendable (AppHost.End) -> Void
            ) {
                completion(.failed("a reason"))
            }
        }
        let given = LockedList<String>()
        var methods = ControlMethods()
        methods.add(Still())
        var session = RPCSession()
        for method in ["about", "status", "modules", "stop"] {
            session.receive(
                Array((#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"# + "\n").utf8)[...])
        }
        _ = session.takeLines(upTo: 9) { request, ticket in
            methods[request.method]?(
                ControlMethods.Call(
                    peer: SocketPeer(processID: 1, userID: 0, groupID: 0), parameters: nil,
                    reply: RPCReply(to: ticket) {
                        given.append(String(decoding: $1.dropFirst(33).dropLast(), as: UTF8.self))
                    }))
        }
        let about =
            #""app":"Demo","pid":7,"version":"\#(HostVersion.current)","#
            + #""slatefile":"slatefile.json","stateDirectory":".hostd","#
            + #""startedAt":"1970-01-01T00:00:00.000Z","stopMs":40000,"#
            + #""deadlines":{"eventMs":5000,"callMs":30000,"launchMs":20000,"stopMs":10000,"#
            + #""stopAllMs":30000}"#
        #expect(
            given.values == [
                "{\(about)}",
                "{\(about)"
                    + #","state":"active","stateSince":"1970-01-01T00:00:01.000Z","readyMs":1.5,"modulesRunning":0,"modulesFailed":0,"#
                    + #""unresponsive":["com.mm.main"],"since":{"com.mm.main":"1970-01-01T00:00:02.000Z"},"#
                    + #""failures":0,"timesUnresponsive":0,"ignored":0,"events":{"push":3},"#
                    + #""holds":[{"module":"com.mm.main","event":"background","#
                    + #""reason":"upload","remainingMs":8000}]}"#,
                #"[{"id":"com.mm.main","entry":"Modules.MainModule","state":"failed","#
                    + #""since":"1970-01-01T00:00:01.000Z","main":false,"required":false,"reason":"threw"},"#
                    + #"{"id":"com.mm.main","entry":"Modules.MainModule","state":"unresponsive","#
                    + #""since":"1970-01-01T00:00:02.000Z","main":false,"required":false,"behind":2,"#
                    + #""holds":[{"event":"background","reason":"upload"}]}]"#,
                #"{"outcome":"failed","reason":"a reason"}"#,
            ])
    }

    @Test(
        "root trusts every host, others that of their own user and of root",
        arguments: [
            (user: UInt32(1000), peer: UInt32(1000), isTrusted: true), (1000, 0, true),
            (1000, 1001, false), (0, 1000, true),
        ])
    func trust(user: UInt32, peer: UInt32, isTrusted: Bool) {
        let peer = SocketPeer(processID: 1, userID: peer, groupID: 0)
        #expect(HostClient.trusts(peer, user: user) == isTrusted)
    }
}
