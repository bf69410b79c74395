import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ModuleHostCore

/// What clients may do to a control server, and what becomes of them and of the others.
@Suite("Control server: hostile clients", .timeLimit(.minutes(10)))
struct ControlServerHostileTests {
    private func lateLine() -> String {
        errorLine(-32600, "Invalid Request", "no whole line within 30s")
    }

    @Test("a line of 1 MiB is read, one byte more is refused before it ends")
    func longLine() throws {
        let served = try ServedSocket()
        let client = try served.client()
        let frame = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        client.send(frame + String(repeating: " ", count: 1 << 20 - frame.utf8.count) + "\n")
        #expect(client.line() == #"{"jsonrpc":"2.0","id":1,"result":"pong"}"#)
        client.send(String(repeating: " ", count: 1 << 20 + 1))
        #expect(
            client.lines() == [
                errorLine(-32600, "Invalid Request", "a line has more than 1048576 bytes")
            ])
    }

    @Test("bytes that are no JSON, and depth without end, are answered and do no harm")
    func noJSON() throws {
        let served = try ServedSocket()
        let client = try served.client()
        for line in ["\u{0}\u{1}", "GET / HTTP/1.1\r", String(repeating: "[", count: 100_000)] {
            client.send(line + "\n")
            #expect(client.line()?.contains(#""id":null,"error":{"code":-32700"#) == true)
        }
        #expect(try client.ask("ping") == "\"pong\"")
    }

    @Test("a batch: its answers are one line, also where some come late")
    func batch() throws {
        let served = try ServedSocket()
        let client = try served.client()
        client.send(
            #"[{"jsonrpc":"2.0","id":1,"method":"hold"},7,{"jsonrpc":"2.0","method":"ping"},"#
                + #"{"jsonrpc":"2.0","id":2,"method":"ping"}]"# + "\n")
        #expect(try client.ask("ping") == "\"pong\"")
        served.held.takeAll()[0].reply.succeed { $0.value("late") }
        #expect(
            client.line() == "["
                + errorLine(
                    -32600, "Invalid Request", "expected an object, found the number 7")
                + #",{"jsonrpc":"2.0","id":2,"result":"pong"},"#
                + #"{"jsonrpc":"2.0","id":1,"result":"late"}]"#)
    }

    @Test("ids of every type", arguments: ["1", "1e400", "-0.50", #""\u0000""#, "null"])
    func ids(id: String) throws {
        let served = try ServedSocket()
        let client = try served.client()
        client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"# + "\n")
        #expect(client.line() == #"{"jsonrpc":"2.0","id":\#(id),"result":"pong"}"#)
    }

    @Test("a half-closed socket gets its answers, then the end; its last line needs no newline")
    func halfClosed() throws {
        let served = try ServedSocket()
        let client = try served.client()
        client.call("hold", id: 1)
        client.send(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
        client.endSending()
        #expect(client.line() == #"{"jsonrpc":"2.0","id":2,"result":"pong"}"#)
        served.held.takeAll()[0].reply.succeed { $0.value(1) }
        #expect(client.lines() == [#"{"jsonrpc":"2.0","id":1,"result":1}"#])
    }

    @Test("a socket closed in the middle of a line, or of a call, leaves nothing behind")
    func closedEarly() throws {
        let served = try ServedSocket(limits: .init(connections: 2))
        for _ in 0..<20 {
            let client = try served.client()
            client.call("hold")
            client.send(#"{"jsonrpc":"#)
            withExtendedLifetime(client) {}
        }
        try served.settle()
        for call in served.held.takeAll() { call.reply.succeed { $0.value(1) } }
        try served.settle()
    }

    @Test("10 000 connects in a row")
    func manyConnects() throws {
        let served = try ServedSocket()
        for _ in 0..<10_000 { _ = try served.client() }
        try served.settle()
        // Each has gone before the next comes.
        #expect(served.log.messages == [])
    }

    @Test("one that comes when others have gone finds room, though the one before found none")
    func roomAfterRefusal() throws {
        let arrivals = Atomic(0)
        let isThere = try WakeSignal()
        let goOn = try WakeSignal()
        let served = try ServedSocket(limits: .init(connections: 2)) { _ in
            // The third is on its way to be refused.
            if arrivals.add(1, ordering: .relaxed).newValue == 3 {
                isThere.give()
                _ = goOn.wait(within: .seconds(60))
            }
            return true
        }
        var clients = try (0..<2).map { _ in try served.client() }
        for client in clients { #expect(try client.ask("ping") == "\"pong\"") }
        let third = try served.client()
        #expect(isThere.wait(within: .seconds(60)))
        clients = []
        let fourth = try served.client()
        goOn.give()
        #expect(third.lines().count == 1)
        #expect(try fourth.ask("ping") == "\"pong\"")
    }

    @Test("64 connections; the 65th receives an error, and is accepted when one has gone")
    func tooManyConnections() throws {
        let served = try ServedSocket()
        var clients = try (0..<64).map { _ in try served.client() }
        for client in clients { #expect(try client.ask("ping") == "\"pong\"") }
        #expect(
            try served.client().lines() == [
                errorLine(
                    -32004, "too many connections",
                    "64 are open, 64 of them of process \(getpid()); end it, or try again")
            ])
        // Of many the log names some.
        for _ in 0..<20 { _ = try served.client().lines() }
        let refused = "control socket: connection of process \(getpid()) refused: 64 are open"
        #expect(served.log.messages == Array(repeating: refused, count: 5))
        #expect(throws: HostClientError.self) {
            try HostClient(to: served.directory).call("ping")
        }
        clients[10].endSending()
        #expect(clients[10].line() == nil)
        clients[10] = try served.client()
        #expect(try clients[10].ask("ping") == "\"pong\"")
    }

    @Test("a peer that sends a byte a second is closed after 30 s, and slows no other")
    func byteASecond() throws {
        let served = try ServedSocket()
        let client = try served.client()
        client.send("{")
        try served.settle()
        for _ in 0..<29 {
            served.time.advance(by: .seconds(1))
            client.send(" ")
            try served.settle()
        }
        served.time.advance(by: .seconds(1))
        #expect(client.lines() == [lateLine()])
    }

    @Test("a peer that says nothing at first is closed after 30 s; later it may be silent")
    func silence() throws {
        let served = try ServedSocket()
        let silent = try served.client()
        let quiet = try served.client()
        #expect(try quiet.ask("ping") == "\"pong\"")
        try served.settle()
        served.time.advance(by: .seconds(30))
        #expect(silent.lines() == [lateLine()])
        served.time.advance(by: .seconds(100_000))
        #expect(try quiet.ask("ping") == "\"pong\"")
        // A line that begins late has all of its time.
        quiet.send("{")
        try served.settle()
        served.time.advance(by: .seconds(29))
        try served.settle()
        quiet.send("}\n")
        #expect(
            quiet.line() == errorLine(-32600, "Invalid Request", "'jsonrpc' must be \\\"2.0\\\""))
    }

    @Test("no deadline is left when nothing is owed, so nothing wakes the server")
    func idle() throws {
        let served = try ServedSocket()
        let client = try served.client()
        #expect(try client.ask("ping") == "\"pong\"")
        try served.settle()
        served.time.advance(by: .seconds(31))
        #expect(try client.ask("ping") == "\"pong\"")
        #expect(served.time.pendingAlarms == 0)
    }

    @Test("one that reads nothing is closed after 30 s, while others are served")
    func readsNothing() throws {
        let served = try ServedSocket()
        let client = try served.client()
        for id in 1...8 { client.call("large", id: id) }
        try served.settle()
        // It is not taken before the answers are read.
        client.call("hold")
        try served.settle()
        served.time.advance(by: .seconds(29))
        try served.settle()
        #expect(served.log.messages == [])
        served.time.advance(by: .seconds(1))
        try served.settle()
        #expect(
            served.log.messages == [
                "control socket: connection of process \(getpid()) closed: "
                    + "it does not read its answers"
            ])
        #expect(served.held.values.isEmpty)
    }

    @Test("one that reads its answers byte by byte has no more time than that")
    func readsByteByByte() throws {
        let served = try ServedSocket()
        let client = try served.client()
        client.call("large")
        try served.settle()
        var byte: UInt8 = 0
        for _ in 0..<30 {
            #expect(recv(client.number, &byte, 1, 0) == 1)
            try served.settle()
            served.time.advance(by: .seconds(1))
            try served.settle()
        }
        #expect(served.log.messages.count == 1)
    }

    @Test("one that is owed more than the limit is closed")
    func owedTooMuch() throws {
        var limits = ControlServer.Limits()
        limits.session.output = 3 << 20
        let served = try ServedSocket(limits: limits)
        let client = try served.client()
        for id in 1...6 { client.call("hold", id: id) }
        try served.settle()
        let text = String(repeating: "x", count: 1 << 20)
        for call in served.held.takeAll() { call.reply.succeed { $0.value(text) } }
        try served.settle()
        #expect(
            served.log.messages == [
                "control socket: connection of process \(getpid()) closed: "
                    + "it does not read its answers, and too many are waiting"
            ])
    }

    @Test("a flood of calls from one lets others through")
    func flood() throws {
        let served = try ServedSocket()
        let flooder = try served.client()
        for id in 1...1024 { flooder.call("hold", id: id) }
        flooder.send(String(repeating: #"{"jsonrpc":"2.0","method":"hold"}"# + "\n", count: 500))
        try served.settle()
        #expect(served.held.values.count == 1024)
        for call in served.held.takeAll() { call.reply.succeed { $0.value(1) } }
        for _ in 1...1024 { #expect(flooder.line() != nil) }
        try served.settle()
        #expect(served.held.values.count == 500)
    }

    @Test("one whose calls take its share of the memory is read no further until they are done")
    func share() throws {
        let budget = InFlightBudget(InFlightBudget.Limits(all: 1 << 20, sender: 40_000))
        let served = try ServedSocket(budget: budget)
        let client = try served.client()
        let parameters = "[\"" + String(repeating: "x", count: 10_000) + "\"]"
        // As many as the socket takes without a reader.
        for id in 1...10 { client.call("hold", id: id, parameters) }
        try served.settle()
        let taken = served.held.values.count
        #expect(1...4 ~= taken)
        #expect(40_000...80_000 ~= budget.inFlight)
        // Others are served.
        let other = try served.client()
        #expect(try other.ask("ping") == "\"pong\"")
        var answered = 0
        while answered < 10 {
            for call in served.held.takeAll() {
                call.reply.succeed { $0.value(1) }
                answered += 1
            }
            try served.settle()
        }
        for _ in 1...10 { #expect(client.line() != nil) }
        try served.settle()
        #expect(budget.inFlight == 0)
    }

    @Test("where all that is in flight is too much, more is refused, and questions are answered")
    func overloaded() throws {
        let budget = InFlightBudget(InFlightBudget.Limits(all: 100_000, sender: 80_000))
        let served = try ServedSocket(budget: budget)
        let parameters = "[\"" + String(repeating: "x", count: 60_000) + "\"]"
        let clients = [try served.client(), try served.client()]
        for client in clients {
            client.call("hold", id: 1, parameters)
            try served.settle()
        }
        let other = try served.client()
        for method in ["call", "canopen", "open", "post", "send"] {
            other.call(method)
            #expect(
                other.line()
                    == errorLine(
                        -32010, "overloaded",
                        "events and calls of 0 MiB are accepted and not done; try again in 1s",
                        id: "1"))
        }
        #expect(try other.ask("greet", #"{"name": "mia"}"#) == "\"hello mia\"")
        for call in served.held.takeAll() { call.reply.succeed { $0.value(1) } }
        for client in clients { #expect(client.line() != nil) }
        try served.settle()
        #expect(try other.ask("post") == "null")
    }

    @Test("where all clients are owed too much, the one that is owed most goes")
    func owed() throws {
        var limits = ControlServer.Limits()
        limits.output = 4 << 20
        let served = try ServedSocket(limits: limits)
        let clients = try (0..<3).map { _ in try served.client() }
        for (client, calls) in zip(clients, [1, 4, 1]) {
            for id in 1...calls { client.call("hold", id: id) }
            try served.settle()
        }
        let text = String(repeating: "x", count: 1 << 20)
        for call in served.held.takeAll() { call.reply.succeed { $0.value(text) } }
        try served.settle()
        #expect(
            served.log.messages == [
                "control socket: connection of process \(getpid()) closed: "
                    + "the answers waiting for all clients are too large, and most wait for it"
            ])
        #expect(clients[0].line()?.isEmpty == false)
        #expect(clients[2].line()?.isEmpty == false)
    }

    @Test("another user receives an error and is closed at once, with a line in the log")
    func otherUser() async throws {
        let served = try ServedSocket(accepts: { _ in false })
        let client = try served.client()
        client.call("ping")
        #expect(
            client.lines() == [
                errorLine(
                    -32002, "not permitted", "only the host's own user and root may control it")
            ])
        _ = await served.log.first(
            containing: "control socket: connection of process \(getpid()) refused: "
                + "user \(geteuid()) may not control this host")
    }

    @Test("who may control a host")
    func owner() {
        let rows: [(user: UInt32, owner: UInt32, isWelcome: Bool)] = [
            (0, 1000, true), (1000, 1000, true), (1001, 1000, false), (1000, 0, false),
            (0, 0, true),
        ]
        for row in rows {
            let peer = SocketPeer(processID: 1, userID: row.user, groupID: 0)
            #expect(ControlServer.isOwnerOrRoot(peer, owner: row.owner) == row.isWelcome)
        }
    }
}
