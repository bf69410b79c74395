import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

/// Answers that the thread which has them sends itself, while the server's thread sleeps.
@Suite("Lone answers on the control socket", .timeLimit(.minutes(10)))
struct LoneAnswerTests {
    let served: ServedSocket

    init() throws { served = try ServedSocket() }

    @Test("the answer to the only call of a client is sent when the reply returns")
    func atOnce() throws {
        let client = try served.client()
        for id in 1...3 {
            let call = try hold(client, id: id)
            served.awaitSleep()
            call.reply.succeed { $0.value(id) }
            #expect(client.received() == result(id, "\(id)"))
            // The answer has not woken the server's thread.
            #expect(served.server.mailbox.bell.isOwnerAsleep)
        }
        #expect(try client.ask("ping") == "\"pong\"")
    }

    @Test("an error is sent as an answer is")
    func failure() throws {
        let client = try served.client()
        let call = try hold(client, id: 1)
        served.awaitSleep()
        call.reply.fail(.invalidParameters("no"))
        #expect(client.received().hasPrefix(#"{"jsonrpc":"2.0","id":1,"error":"#))
    }

    @Test("answers to calls that a client sends in advance are left to the server's thread")
    func several() throws {
        let client = try served.client()
        let first = try hold(client, id: 1)
        let second = try hold(client, id: 2)
        served.awaitSleep()
        first.reply.succeed { $0.value(1) }
        #expect(client.line() == result(1, "1", newline: false))
        served.awaitSleep()
        // The last one is alone.
        second.reply.succeed { $0.value(2) }
        #expect(client.received() == result(2, "2"))
    }

    @Test("an answer that is long, or one of a batch, arrives whole")
    func left() throws {
        let client = try served.client()
        let call = try hold(client, id: 1)
        let text = String(repeating: "x", count: 1 << 20)
        served.awaitSleep()
        call.reply.succeed { $0.value(text) }
        #expect(client.line() == result(1, "\"\(text)\"", newline: false))
        client.send(#"[{"jsonrpc":"2.0","id":2,"method":"hold"}]"# + "\n")
        let inBatch = try awaitHeld()
        served.awaitSleep()
        inBatch.reply.succeed { $0.value(2) }
        #expect(client.line() == "[" + result(2, "2", newline: false) + "]")
    }

    @Test(
        "a client that has ended its input gets its answer, and then the end",
        arguments: [true, false])
    func halfClosed(endsFirst: Bool) throws {
        let client = try served.client()
        let call = try hold(client, id: 1)
        if endsFirst {
            client.endSending()
            try served.settle()
        }
        served.awaitSleep()
        call.reply.succeed { $0.value(1) }
        if !endsFirst { client.endSending() }
        #expect(client.lines() == [result(1, "1", newline: false)])
    }

    @Test("a client whose input is refused gets the answer that is still due, and then the end")
    func refused() throws {
        let client = try served.client()
        let call = try hold(client, id: 1)
        client.send(String(repeating: "x", count: 1 << 20 + 1) + "\n")
        #expect(client.line()?.contains("a line has more than") == true)
        served.awaitSleep()
        call.reply.succeed { $0.value(1) }
        #expect(client.lines() == [result(1, "1", newline: false)])
    }

    @Test("an answer never stands inside of another one, which a slow client has read in part")
    func slowReader() throws {
        let client = try served.client()
        let first = try hold(client, id: 1)
        let second = try hold(client, id: 2)
        // More than the socket has room for; what is left is below the mark at which no more calls are taken.
        let text = String(repeating: "x", count: 400_000)
        first.reply.succeed { $0.value(text) }
        var beginning = ""
        while beginning.isEmpty { beginning = client.received(atMost: 1) }
        served.awaitSleep()
        // Room for a short line, and not enough for the server's thread to be woken.
        beginning += client.received()
        #expect(beginning.utf8.count == 1 << 16 + 1)
        second.reply.succeed { $0.value(2) }
        #expect(beginning + (client.line() ?? "") == result(1, "\"\(text)\"", newline: false))
        #expect(client.line() == result(2, "2", newline: false))
        // All of it was read: the next one is sent at once.
        let next = try hold(client, id: 3)
        served.awaitSleep()
        next.reply.succeed { $0.value(3) }
        #expect(client.received() == result(3, "3"))
    }

    @Test("calls that wait for room are taken when the client has read", arguments: [true, false])
    func waitingLines(hasOneOutstanding: Bool) throws {
        var limits = ControlServer.Limits()
        limits.session.calls = 4
        let served = try ServedSocket(limits: limits)
        let client = try served.client()
        let call = hasOneOutstanding ? try hold(client, id: 0, of: served) : nil
        // Their answers are larger than the mark at which no more calls are taken.
        for id in 1...12 { client.call("large", id: id) }
        for id in 1...12 {
            #expect(
                client.line()?.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result":"xxx"#) == true)
        }
        call?.reply.succeed { $0.value(0) }
        if call != nil { #expect(client.line() == result(0, "0", newline: false)) }
    }

    @Test("a client that does not read gets every answer when it does, as often as it asks")
    func neverReads() throws {
        let client = try served.client()
        let text = String(repeating: "y", count: 4000)
        // More than the socket has room for, and less than that at which the server takes no more calls.
        for id in 1...80 {
            let call = try hold(client, id: id)
            served.awaitSleep()
            call.reply.succeed { $0.value(text) }
        }
        for id in 1...80 { #expect(client.line() == result(id, "\"\(text)\"", newline: false)) }
    }

    @Test("an answer for a client that has gone closes nothing of another's")
    func gone() throws {
        var client: SocketClient? = try served.client()
        let call = try hold(#require(client), id: 1)
        client = nil
        try served.settle()
        // It has the place of the one that has gone, and maybe its descriptor.
        let other = try served.client()
        let held = try hold(other, id: 1)
        served.awaitSleep()
        call.reply.succeed { $0.value("lost") }
        held.reply.succeed { $0.value("found") }
        #expect(other.line() == result(1, "\"found\"", newline: false))
    }

    @Test("answers by many threads, each for a client of its own, are whole and in turn")
    func many() async throws {
        let clients = try (0..<8).map { _ in try served.client() }
        let held = served.held
        let isOver = LockedList<Bool>()
        try NativeThread.start(name: "answers") {
            while isOver.values.isEmpty {
                for call in held.takeAll() { call.reply.succeed { $0.value(7) } }
                sched_yield()
            }
        }
        for round in 1...200 {
            for client in clients { client.call("hold", id: round) }
            for client in clients {
                #expect(client.line() == result(round, "7", newline: false))
            }
        }
        isOver.append(true)
    }

    // MARK: Calls that wait

    /// Sends a call that the test answers.
    private func hold(
        _ client: SocketClient, id: Int, of served: ServedSocket? = nil
    ) throws -> ControlMethods.Call {
        client.call("hold", id: id)
        return try awaitHeld(of: served)
    }

    private func awaitHeld(of other: ServedSocket? = nil) throws -> ControlMethods.Call {
        let served = other ?? served
        while true {
            if let call = served.held.takeAll().first { return call }
            sched_yield()
        }
    }

    private func result(_ id: Int, _ value: String, newline: Bool = true) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(value)}"# + (newline ? "\n" : "")
    }
}

extension ServedSocket {
    /// Waits until the server's thread sleeps, or is about to; of what was sent just now it may not know yet.
    fileprivate func awaitSleep() {
        while !server.mailbox.bell.isOwnerAsleep { sched_yield() }
    }
}

extension SocketClient {
    /// Returns what has arrived; waits for nothing.
    fileprivate func received(atMost limit: Int = 1 << 16) -> String {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(number, &bytes, limit, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
