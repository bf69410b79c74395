import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Tail", .timeLimit(.minutes(10)))
struct TailHubTests {
    private func event(_ number: Int) -> String {
        let time = WallTime(seconds: number).iso8601
        return #"{"jsonrpc":"2.0","method":"event","params":{"time":"\#(time)","level":"info","#
            + #""message":"","n":\#(number)}}"#
    }

    private func lost(_ count: Int) -> String {
        #"{"jsonrpc":"2.0","method":"lost","params":{"lost":\#(count)}}"#
    }

    private func take(_ follower: TailFollower) -> [String] {
        var lines: [String] = []
        while let line = follower.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    /// Returns the numbers of the lines, and that of the lost ones as a negative one.
    private func numbers(_ follower: TailFollower) throws -> [Int] {
        try take(follower).map { line in
            let what = try JSONValue(parsing: line)["params"]
            return what?["n"]?.int ?? -(what?["lost"]?.int ?? 0)
        }
    }

    private func request(_ count: Int, _ change: (inout TailRequest) -> Void = { _ in })
        -> TailRequest
    {
        var request = TailRequest()
        request.count = count
        change(&request)
        return request
    }

    @Test("followers come and go, and with them the least level")
    func followed() {
        let levels = LogLevels(start: .warning)
        let hub = TailHub(levels)
        #expect(!hub.isFollowed)
        let (follower, _) = hub.follow {}
        let (debugger, _) = hub.follow(request(0) { $0.level = .debug }) {}
        #expect(hub.isFollowed && levels.isEnabled(.debug, for: nil))
        hub.unfollow(debugger)
        #expect(levels.isEnabled(.info, for: nil) && !levels.isEnabled(.debug, for: nil))
        hub.unfollow(follower)
        hub.unfollow(follower)
        #expect(!hub.isFollowed && !levels.isEnabled(.info, for: nil))
    }

    @Test("followers get everything from when they began, in order, and are woken once")
    func order() {
        let hub = TailHub()
        let wakes = LockedList<Int>()
        let (first, _) = hub.follow { wakes.append(1) }
        hub.log(1)
        let (second, _) = hub.follow { wakes.append(2) }
        hub.log(2)
        #expect(take(first) == [event(1), event(2)])
        #expect(take(second) == [event(2)])
        #expect(wakes.values == [1, 2])
        hub.log(3)
        #expect(wakes.values == [1, 2, 1, 2])
        #expect(take(first) == [event(3)])
    }

    @Test("a slow follower loses the oldest and is notified how many, by number and by size")
    func slow() throws {
        let hub = TailHub(limits: .init(entries: 3, bytes: 1000))
        let (follower, _) = hub.follow {}
        for number in 1...10 { hub.log(number) }
        #expect(take(follower) == [lost(7), event(8), event(9), event(10)])
        for number in 1...10 { hub.log(number) }
        #expect(follower.next() != nil)
        #expect(follower.next() != nil)
        for number in 11...12 { hub.log(number) }
        #expect(try numbers(follower) == [-1, 10, 11, 12])
        hub.log(13, String(repeating: "x", count: 2000))
        #expect(take(follower) == [lost(1)])
    }

    @Test("a follower begins with the newest of the lines that it wants, and loses none after them")
    func earlier() throws {
        let hub = TailHub()
        for number in 1...20 {
            hub.log(number, level: number % 2 == 0 ? .info : .debug, event: "push")
        }
        let wakes = LockedList<Int>()
        let (follower, start) = hub.follow(request(3)) { wakes.append(0) }
        #expect(wakes.values == [0] && start == nil)
        hub.log(21)
        #expect(try numbers(follower) == [16, 18, 20, 21])
        let since = hub.follow(request(1000) { $0.since = WallTime(seconds: 19) }) {}.follower
        #expect(try numbers(since) == [20, 21])
        let pushes = hub.follow(request(1) { ($0.event, $0.level) = ("push", .debug) }) {}.follower
        hub.log(22)
        hub.log(23, event: "push")
        #expect(try numbers(pushes) == [20, 23])
        #expect(try numbers(hub.follow(request(0)) {}.follower) == [])
    }

    @Test("the history is bounded in lines and bytes, and says from when on it has lines")
    func history() throws {
        let hub = TailHub()
        for number in 1...1500 { hub.log(number) }
        let (follower, start) = hub.follow(request(1000)) {}
        #expect(try numbers(follower) == Array(501...1500))
        #expect(start == WallTime(seconds: 501))
        for number in 1...20 { hub.log(number, String(repeating: "x", count: 20_000)) }
        #expect(try numbers(hub.follow(request(1000)) {}.follower) == Array(8...20))
        hub.log(21, String(repeating: "x", count: 1_000_000))
        let (large, last) = hub.follow(request(1000)) {}
        #expect(try numbers(large) == [21])
        #expect(last == WallTime(seconds: 21))
    }

    @Test("what only a follower wants takes no room of what the log wrote")
    func details() throws {
        let hub = TailHub(LogLevels(start: .warning))
        hub.log(1, level: .warning)
        let (debugger, _) = hub.follow(request(0) { $0.level = .debug }) {}
        for number in 2...1200 { hub.log(number, level: .debug) }
        #expect(try numbers(debugger).last == 1200)
        #expect(try numbers(hub.follow(request(10)) {}.follower) == [1])
    }

    @Test(
        "lines about a module: its own, and those that name it",
        arguments: [
            ("com.mm.push", "", "", true), ("com.mm.pushes", "", "", false),
            (nil, "waiting for com.mm.push.", "", true),
            (nil, "com.mm.push/directory took 5s", "", true),
            (nil, "com.mm.push-er and xcom.mm.push", "", false),
            (nil, "com.mm.pushes, then 'com.mm.push'", "", true),
            (nil, "2 modules", "com.mm.push", true), (nil, "2 modules", "com.mm.store", false),
        ])
    func module(id: String?, message: String, field: String, isWanted: Bool) {
        let record = LogRecord(
            time: .now(), level: .info, module: id, message: message,
            fields: [LogField("n", 1), LogField("slowest", field)])
        #expect(request(0) { $0.module = "com.mm.push" }.wants(record) == isWanted)
    }

    @Test(
        "parameters of 'tail' that are wrong",
        arguments: [
            (#"{"last":-1}"#, "/last: -1 is not in 0...1000"),
            (#"{"last":1001}"#, "/last: 1001 is not in 0...1000"),
            (#"{"since":"soon"}"#, "/since: 'soon' is not a duration or a time"),
            (#"{"since":"all"}"#, "/since: 'all' is not a duration or a time"),
            (#"{"event":"pull"}"#, "/event: 'pull' is not an event"),
            (
                #"{"level":"loud"}"#,
                "/level: 'loud' is not one of debug, info, notice, warning, error"
            ),
            (#"{"lines":1}"#, "unknown"),
        ])
    func parameters(json: String, error: String) throws {
        let served = try ServedSocket()
        let client = try HostClient(to: served.directory)
        let refusal = try #require(throws: HostClientError.self) {
            try client.call("tail") { $0.raw(json.utf8) }
        }
        #expect("\(refusal)".contains(error))
        #expect(!served.tail.isFollowed)
    }

    @Test("a log record is what a line of the JSON log is")
    func record() {
        let levels = LogLevels(start: nil)
        let hub = TailHub(levels)
        let (follower, _) = hub.follow {}
        let recorder = LogRecorder()
        let log = Log(to: LogTee(recorder, hub), module: "com.mm.main", levels: levels)
        log.write(.info, "two\nlines", event: "push", fields: [LogField("n", 1)])
        #expect(recorder.messages == ["two\nlines"])
        let (debugger, _) = hub.follow(request(0) { $0.level = .debug }) {}
        log.debug("for the follower alone")
        #expect(recorder.messages == ["two\nlines"])
        #expect(take(debugger).count == 1)
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
            served.tail.log(number)
            #expect(client.line() == event(number))
        }
        #expect(try client.ask("ping") == "\"pong\"")
        client.endSending()
        try served.settle()
        served.tail.log(4)
        #expect(client.line() == event(4))
    }

    @Test("over a socket: a follower that does not read loses entries, stays, and slows no other")
    func slowOverSocket() throws {
        let served = try ServedSocket(tailLimits: .init(entries: 100))
        let client = try served.client()
        #expect(try client.ask("tail") == "{}")
        let text = String(repeating: "x", count: 10_000)
        for number in 1...1000 {
            served.tail.log(number, text)
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
                #expect(line.hasSuffix(#""n":\#(seen + missing)}}"#))
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
