import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Control server", .timeLimit(.minutes(10)))
struct ControlServerTests {
    private let served: ServedSocket

    init() throws { served = try ServedSocket() }

    @Test("a call with parameters, and what is wrong with others")
    func parameters() throws {
        let client = try served.client()
        #expect(try client.ask("greet", #"{"name":"Ada"}"#) == "\"hello Ada\"")
        let rows: [(String?, String)] = [
            (nil, "missing key 'name'"),
            (#"{"name":1}"#, "/name: expected a string, found the number 1"),
            (#"{"name":"A","tmes":2}"#, "/tmes: unknown key 'tmes'; did you mean 'times'?"),
            ("[]", "expected an object, found an array"),
        ]
        for (parameters, text) in rows {
            client.call("greet", parameters)
            let line = try #require(client.line())
            #expect(line.contains(#""code":-32602,"message":"Invalid params""#))
            #expect(line.contains(text), "\(line)")
        }
        client.call("peer", #"{"x":1}"#)
        #expect(client.line() == errorLine(-32602, "Invalid params", "'peer' takes none", id: "1"))
    }

    @Test("a method that there is not")
    func unknownMethod() throws {
        let client = try served.client()
        client.call("great")
        #expect(
            client.line()
                == errorLine(
                    -32601, "Method not found", "no method 'great'; did you mean 'greet'?",
                    id: "1"))
    }

    @Test("who calls is known to the method")
    func peer() throws {
        let result = try served.client().ask("peer")
        #expect(result == "[\(getpid()),\(geteuid()),\(getegid())]")
    }

    @Test("answers overtake each other, from any thread")
    func order() throws {
        let client = try served.client()
        client.call("hold", id: 1)
        client.call("hold", id: 2)
        #expect(try client.ask("ping") == "\"pong\"")
        let held = served.held.takeAll()
        held[1].reply.succeed { $0.value(2) }
        #expect(client.line() == #"{"jsonrpc":"2.0","id":2,"result":2}"#)
        held[0].reply.succeed { $0.value(1) }
        #expect(client.line() == #"{"jsonrpc":"2.0","id":1,"result":1}"#)
    }

    @Test("a handler that forgets a call answers it with an error")
    func forgotten() throws {
        let client = try served.client()
        client.call("forget")
        #expect(
            client.line()
                == errorLine(
                    -32603, "Internal error", "the call was released without an answer", id: "1"))
    }

    @Test("a notification is never answered")
    func notification() throws {
        let client = try served.client()
        client.call("greet", id: nil)
        client.call("nothing", id: nil)
        client.call("ping", id: 9)
        #expect(client.line() == #"{"jsonrpc":"2.0","id":9,"result":"pong"}"#)
    }

    @Test("10 000 calls at once are answered in order, and one whose reader is slow is not cut")
    func pipelined() throws {
        let client = try served.client()
        for id in 1...10_000 { client.call("ping", id: id) }
        for id in 1...10_000 {
            #expect(client.line() == #"{"jsonrpc":"2.0","id":\#(id),"result":"pong"}"#)
        }
        for id in 1...10 { client.call("large", id: id) }
        for _ in 1...10 { #expect((client.line()?.utf8.count ?? 0) > 1 << 20) }
    }

    @Test("a socket that a dead host left is replaced; permissions are the owner's alone")
    func stale() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path("state"))
        let claim = try PidFile(claiming: directory)
        let path = directory.path(of: "control.sock")
        for _ in 0..<2 {
            let dead = try LocalSocket.listen(at: path)
            withExtendedLifetime(dead) {}
        }
        #expect(throws: SystemError.connectionRefused) { try SocketClient(path) }
        let server = try ControlServer(
            in: directory, methods: ControlMethods(), tail: TailHub(), log: LogRecorder().log)
        try server.start()
        #expect(try SocketClient(path).ask("ping") == "\"pong\"")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        server.stop()
        #expect(stat(path, &status) == -1)
        withExtendedLifetime(claim) {}
    }

    @Test("a socket that is answered is not taken away, and another host's is not removed")
    func answered() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path("state"))
        func server() throws -> ControlServer {
            try makeFolders(directory.path)
            let server = try ControlServer(
                in: directory, methods: ControlMethods(), tail: TailHub(), log: LogRecorder().log)
            try server.start()
            return server
        }
        let path = directory.path(of: "control.sock")
        let first = try server()
        let error = #expect(throws: ControlServerError.self) { try server() }
        #expect(
            error?.description
                == "no control socket: cannot listen at '\(path)': Address already in use")
        #expect(try SocketClient(path).ask("ping") == "\"pong\"")
        try folder.move("state", to: "moved")
        let second = try server()
        first.stop()
        #expect(try SocketClient(path).ask("ping") == "\"pong\"")
        second.stop()
        #expect(LocalSocket.identity(of: path) == nil)
    }

    @Test("a folder in the socket's place is said")
    func inTheWay() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path("control.sock/x"))
        do throws(ControlServerError) {
            _ = try ControlServer(
                in: StateDirectory(path: folder.path), methods: ControlMethods(), tail: TailHub(),
                log: LogRecorder().log)
            Issue.record("no error")
        } catch {
            #expect(error.exitCode == .cannotCreate)
            #expect(
                "\(error)"
                    == "no control socket: cannot listen at '\(folder.path("control.sock"))': "
                    + "Is a directory")
        }
    }

    @Test("a path of more than 107 bytes", arguments: [90, 150, 240])
    func longPath(length: Int) throws {
        let served = try ServedSocket(in: "\(String(repeating: "d", count: length))/state")
        let client = try HostClient(to: served.directory)
        #expect(try client.call("ping").string == "pong")
    }

    @Test("an end sends what is owed, then closes; calls without an answer see that")
    func end() throws {
        let client = try served.client()
        client.call("hold", id: 1)
        client.call("hold", id: 2)
        #expect(try client.ask("ping") == "\"pong\"")
        served.held.values[0].reply.succeed { $0.value("bye") }
        served.server.stop()
        #expect(client.lines() == [#"{"jsonrpc":"2.0","id":1,"result":"bye"}"#])
        #expect(throws: SystemError.notFound) { try served.client() }
        // Too late, and harmless.
        served.held.values[1].reply.succeed { $0.value("?") }
    }
}
