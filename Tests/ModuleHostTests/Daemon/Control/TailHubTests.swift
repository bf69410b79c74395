import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Tail", .timeLimit(.minutes(10)))
struct TailHubTests {
    private func event(_ number: Int) -> String {
        #"{"jsonrpc":"2.0","method":"event","params":{"n":\#(number)}}"#
    }

    private func lost(_ count: Int) -> String {
        #"{"jsonrpc":"2.0","method":"lost","params":{"lost":\#(count)}}"#
    }

    private func take(_ follower: TailFollower) -> [String] {
        var lines: [String] = []
        while let line = follower.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test("without followers nothing is made")
    func unfollowed() {
        let hub = TailHub()
        hub.publish { _ in Issue.record("there is no follower") }
        let follower = hub.follow {}
        #expect(hub.isFollowed)
        hub.unfollow(follower)
        hub.unfollow(follower)
        #expect(!hub.isFollowed)
        hub.publish { _ in Issue.record("there is no follower any more") }
    }

    @Test("followers get everything from when they began, in order, and are woken once")
    func order() {
        let hub = TailHub()
        let wakes = LockedList<Int>()
        let first = hub.follow { wakes.append(1) }
        hub.publish { $0.member("n", 1) }
        let second = hub.follow { wakes.append(2) }
        hub.publish { $0.member("n", 2) }
        #expect(take(first) == [event(1), event(2)])
        #expect(take(second) == [event(2)])
        #expect(wakes.values == [1, 2])
        hub.publish { $0.member("n", 3) }
        #expect(wakes.values == [1, 2, 1, 2])
        #expect(take(first) == [event(3)])
    }

    @Test("a slow follower loses the oldest and is notified how many, by number and by size")
    func slow() {
        let hub = TailHub(limits: .init(entries: 3, bytes: 1000))
        let follower = hub.follow {}
        for number in 1...10 { hub.publish { $0.member("n", number) } }
        #expect(take(follower) == [lost(7), event(8), event(9), event(10)])
        for number in 1...10 { hub.publish { $0.member("n", number) } }
        #expect(follower.next() != nil)
        #expect(follower.next() != nil)
        for number in 11...12 { hub.publish { $0.member("n", number) } }
        #expect(take(follower) == [lost(1), event(10), event(11), event(12)])
        hub.publish { $0.member("n", String(repeating: "x", count: 2000)) }
        #expect(take(follower) == [lost(1)])
    }

    @Test("a log record is what a line of the JSON log is")
    func record() {
        let hub = TailHub()
        let follower = hub.follow {}
        let recorder = LogRecorder()
        let log = Log(to: LogTee(recorder, hub), module: "com.mm.main")
        log.write(.info, "two\nlines", event: "push", fields: [LogField("n", 1)])
        #expect(recorder.messages == ["two\nlines"])
        let line = take(follower).first ?? ""
        #expect(line.hasPrefix(#"{"jsonrpc":"2.0","method":"event","params":{"time":"2"#))
        #expect(
            line.hasSuffix(
                #""level":"info","module":"com.mm.main","event":"push","#
                    + #""message":"two\nlines","n":1}}"#))
    }

    @Test("over a socket: what happens arrives, between answers")
    func overSocket() throws {
        let served = try ServedSocket()
        let client = try served.client()
        #expect(try client.ask("tail") == "{}")
        // A second time changes nothing.
        #expect(try client.ask("tail") == "{}")
        for number in 1...3 {
            served.tail.publish { $0.member("n", number) }
            #expect(client.line() == event(number))
        }
        #expect(try client.ask("ping") == "\"pong\"")
        client.endSending()
        try served.settle()
        served.tail.publish { $0.member("n", 4) }
        #expect(client.line() == event(4))
    }

    @Test("over a socket: a follower that does not read loses entries, stays, and slows no other")
    func slowOverSocket() throws {
        let served = try ServedSocket(tailLimits: .init(entries: 100))
        let client = try served.client()
        #expect(try client.ask("tail") == "{}")
        let text = String(repeating: "x", count: 10_000)
        for number in 1...1000 {
            served.tail.publish {
                $0.member("n", number)
                $0.member("text", text)
            }
            if number % 100 == 0 { try served.settle() }
        }
        served.time.advance(by: .seconds(3600))
        try served.settle()
        // Now it reads: every entry is there or counted, and the newest is there.
        var seen = 0
        var missing = 0
        while seen + missing < 1000 {
            let line = try #require(client.line())
            if line.contains(#""method":"lost""#) {
                let value = try JSONValue(parsing: line)
                missing += value["params"]?["lost"]?.int ?? 0
            } else {
                seen += 1
                #expect(line.contains(#""params":{"n":\#(seen + missing),"#))
            }
        }
        #expect(missing > 0)
        #expect(served.log.records.filter { $0.level > .debug }.map(\.message) == [])
    }

    @Test("a follower that goes is forgotten")
    func gone() throws {
        let served = try ServedSocket()
        do {
            let client = try served.client()
            #expect(try client.ask("tail") == "{}")
            #expect(served.tail.isFollowed)
        }
        try served.settle()
        try served.settle()
        #expect(!served.tail.isFollowed)
    }
}
