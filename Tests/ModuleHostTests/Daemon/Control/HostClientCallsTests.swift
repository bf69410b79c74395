import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// A client whose tasks wait, on a server that answers when the test says so.
@Suite("Host client: calls that await", .timeLimit(.minutes(10)))
struct HostClientCallsTests {
    @Test("calls of many tasks share a connection, and are answered in any order")
    func anyOrder() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        async let first = client.request("hold", within: nil)
        while served.held.values.isEmpty { await Task.yield() }
        async let second = client.request("hold", within: nil)
        #expect(try await client.request("ping", within: nil).string == "pong")
        while served.held.values.count < 2 { await Task.yield() }
        let held = served.held.takeAll()
        held[1].reply.succeed { $0.value("second") }
        #expect(try await second.string == "second")
        held[0].reply.succeed { $0.value("first") }
        #expect(try await first.string == "first")
    }

    @Test("an error of the host is typed, with its code")
    func refused() async throws {
        let served = try ServedSocket()
        let client = try HostClient(stateDirectory: served.directory.path)
        let error = await #expect(throws: HostClientError.self) {
            try await client.request("greet", within: nil)
        }
        guard case .refused(let refusal)? = error else {
            Issue.record("\(error as (any Error)?)")
            return
        }
        #expect(refusal.code == .invalidParameters)
    }

    @Test("more calls than a host reads are refused at once, until one is answered")
    func tooMany() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let done = Promise<Void>()
        let answers = Guarded(0)
        let calls = ClientConnection.Limits.calls
        for _ in 0..<calls {
            client.connection.call("hold", as: client.connection.nextID(), within: nil) {
                $0.object { _ in }
            } completion: { _ in
                let count = answers.withLock { answers in
                    answers += 1
                    return answers
                }
                if count == calls { done.keep(()) }
            }
        }
        await #expect(throws: HostClientError.tooManyCalls(served.directory)) {
            try await client.request("ping", within: nil)
        }
        #expect(
            "\(HostClientError.tooManyCalls(StateDirectory(path: "x")))"
                == "too many calls of the host on the state directory 'x' are not answered; await some of them "
                + "before others")
        while served.held.values.count < calls { await Task.yield() }
        for call in served.held.takeAll() { call.reply.succeed { $0.null() } }
        await done.value
        #expect(try await client.request("ping", within: nil).string == "pong")
    }

    @Test("calls that a host does not read are refused beyond a number of bytes")
    func unread() throws {
        let (host, client) = try LocalSocket.pair(nonblocking: true)
        let directory = StateDirectory(path: "x")
        let connection = try ClientConnection(Descriptor(owning: client), to: directory)
        let text = String(repeating: "x", count: 1 << 20)
        let refused = Guarded(0)
        for _ in 0..<100 {
            connection.call("post", as: connection.nextID(), within: nil) {
                $0.object { $0.member("text", text) }
            } completion: { result in
                guard case .failure(.tooManyCalls) = result else { return }
                refused.withLock { $0 += 1 }
            }
        }
        // As much as may wait is being sent, and as much waits, beside one call each and what the socket takes.
        #expect(refused.withLock { $0 } >= 60)
        connection.close()
        withExtendedLifetime(Descriptor(owning: host)) {}
    }

    @Test("a call that comes while another one is being sent is sent after it")
    func sentLater() throws {
        let (host, client) = try LocalSocket.pair(nonblocking: true)
        let connection = try ClientConnection(
            Descriptor(owning: client), to: StateDirectory(path: "x"))
        let hostEnd = Descriptor(owning: host)
        // More than the socket takes at once.
        let text = String(repeating: "x", count: 4 << 20)
        connection.call("first", as: connection.nextID(), within: nil) {
            $0.object { $0.member("text", text) }
        } completion: { _ in
        }
        var received = 0
        var last: [UInt8] = []
        var buffer = [UInt8](readingUpTo: 1 << 16)
        func receive() {
            guard case .bytes(let count) = hostEnd.receive(into: &buffer) else { return }
            received += count
            last = Array((last + buffer[..<count]).suffix(200))
        }
        while received == 0 { receive() }
        connection.call("second", as: connection.nextID(), within: nil) {
            $0.object { _ in }
        } completion: { _ in
        }
        // It is not answered meanwhile.
        while !String(decoding: last, as: UTF8.self).contains(#""method":"second""#) { receive() }
        #expect(received > text.utf8.count)
        connection.close()
    }

    @Test("the end of the host ends every call, and the tail")
    func ended() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let tail = try await client.tail()
        let call = Task { try await client.request("hold", within: nil) }
        #expect(try await client.request("ping", within: nil).string == "pong")
        served.server.stop()
        await #expect(throws: HostClientError.ended(served.directory)) { try await call.value }
        await #expect(throws: HostClientError.ended(served.directory)) {
            try await client.request("ping", within: nil)
        }
        for await _ in tail { Issue.record("a line after the end") }
    }

    @Test("a client that is released closes its connection")
    func released() async throws {
        let served = try ServedSocket()
        do {
            let client = try HostClient(to: served.directory)
            #expect(try await client.request("ping", within: nil).string == "pong")
            #expect(client.hostProcessID == CurrentProcess.id)
        }
        // A connection more than there may be is refused: all were closed.
        for _ in 0..<200 {
            let client = try HostClient(to: served.directory)
            while true {
                do {
                    _ = try await client.request("ping", within: nil)
                    break
                } catch {
                    guard case .refused(let error) = error, error.code == .tooMany else {
                        throw error
                    }
                    break
                }
            }
        }
        while true {
            let client = try HostClient(to: served.directory)
            if let pong = try? await client.request("ping", within: nil), pong.string == "pong" {
                break
            }
        }
    }

    @Test("a tail has each line in order; a slow follower is told how many it lost")
    func tail() async throws {
        let served = try ServedSocket(tailLimits: TailHub.Limits(entries: 16))
        let client = try HostClient(to: served.directory)
        let tail = try await client.tail()
        served.tail.log(1)
        let lines = tail.makeAsyncIterator()
        guard case .line(let line)? = await lines.next() else {
            Issue.record("no line")
            return
        }
        #expect(line["n"]?.int == 1)
        // More than this end keeps, the system holds, and the host keeps.
        let text = String(repeating: "x", count: 10_000)
        let count = 2000
        for number in 0..<count {
            served.tail.log(number, text)
        }
        var (seen, lost) = (0, 0)
        while seen < count {
            switch await lines.next() {
            case .line?: seen += 1
            case .lost(let number)?:
                #expect(number > 0)
                seen += number
                lost += number
            case nil:
                Issue.record("the tail ended after \(seen)")
                return
            }
        }
        #expect(seen == count)
        #expect(lost > 0)
    }

    @Test(
        "a cancelled task stops waiting, before the call and in it, and the error names the request"
    )
    func cancelledCall() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let error = HostClientError.cancelled(served.directory, request: "hold")
        let call = Task { try await client.request("hold", within: nil) }
        while served.held.values.isEmpty { await Task.yield() }
        call.cancel()
        await #expect(throws: error) { try await call.value }
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.request("hold", within: nil)
        }
        early.cancel()
        await #expect(throws: error) { try await early.value }
        // The responses of the host are not taken for another's.
        for call in served.held.takeAll() { call.reply.succeed { $0.value("late") } }
        #expect(try await client.request("ping", within: nil).string == "pong")
    }

    @Test("a cancelled call, and one that was waited for long enough, is cancelled in the host")
    func cancelledInHost() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let call = Task { try await client.call("x.m", "hold", within: nil) }
        while served.held.values.isEmpty { await Task.yield() }
        let cancelled = Promise<Void>()
        // Kept to the end: a call that is released is answered with an error.
        let first = served.held.takeAll()
        first[0].cancellation?.whenCancelled { cancelled.keep(()) }
        call.cancel()
        await #expect(throws: HostClientError.cancelled(served.directory, request: "call")) {
            try await call.value
        }
        await cancelled.value
        await #expect(
            throws: HostClientError.noResponse(
                served.directory, to: "open", within: .milliseconds(1))
        ) { try await client.open("a://b", within: .milliseconds(1)) }
        while served.held.values.isEmpty { await Task.yield() }
        let overdue = Promise<Void>()
        let second = served.held.takeAll()
        second[0].cancellation?.whenCancelled { overdue.keep(()) }
        await overdue.value
        withExtendedLifetime((first, second)) {}
    }

    @Test(
        "the host's own limit follows its deadlines, which it is asked for once, and after a reload"
    )
    func hostLimit() async throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        served.about.append(#"{"deadlines": {"callMs": 1500, "launchMs": 2000}}"#)
        #expect(try await client.limit(nil, \.call) == nil)
        #expect(try await client.limit(.seconds(3), \.call) == .seconds(3))
        #expect(try await client.limit(HostClient.hostLimit, \.call) == .milliseconds(6500))
        served.about.append(#"{"deadlines": {"callMs": 9000}}"#)
        #expect(try await client.limit(HostClient.hostLimit) { $0.launch } == .seconds(7))
        _ = try await client.reload()
        #expect(try await client.limit(HostClient.hostLimit, \.call) == .seconds(14))
        // What a host does not tell is as in a slatefile that does not say it.
        #expect(try await client.limit(HostClient.hostLimit, \.stopAll) == .seconds(35))
    }

    @Test("a task that is cancelled follows no more")
    func cancelled() async throws {
        let served = try ServedSocket()
        let tail = try await HostClient(to: served.directory).tail()
        let following = Task {
            for await _ in tail {}
            return true
        }
        following.cancel()
        #expect(await following.value)
    }
}
