import Testing

@testable import ModuleHostCore

@Suite("LifecycleEvent")
struct LifecycleEventTests {
    private func error(_ kind: EventKind, _ payload: String?) throws -> String {
        let value = try payload.map { try JSONValue(parsing: $0) }
        let error = #expect(throws: EventError.self) {
            try LifecycleEvent(kind, payload: value, origin: .host)
        }
        return "\(try #require(error))"
    }

    @Test("a kind knows its place among all")
    func places() {
        #expect(EventKind.allCases.map(\.place) == Array(EventKind.allCases.indices))
    }

    @Test(
        "the host's own events never come from outside",
        arguments: [EventKind.launch, .configurationChanged])
    func hostsOwn(kind: EventKind) throws {
        let text = "event '\(kind.rawValue)' is given by the host itself, never from outside"
        #expect(try error(kind, nil) == text)
        #expect(try error(kind, "{}") == text)
    }

    @Test("an event without a payload takes none", arguments: EventKind.allCases)
    func noPayload(kind: EventKind) throws {
        guard kind.payloadType == nil, !kind.isHostsOwn else { return }
        #expect(try error(kind, "{}") == "event '\(kind.rawValue)' takes no payload")
        let event = try LifecycleEvent(kind, origin: .host)
        #expect(event.kind == kind && event.payload == nil)
    }

    @Test("an event with a payload needs it", arguments: EventKind.allCases)
    func payloadMissing(kind: EventKind) throws {
        guard kind.payloadType != nil else { return }
        #expect(try error(kind, nil) == "event '\(kind.rawValue)' needs a payload")
    }

    @Test(
        "a payload that its event cannot take: what is wrong, and where",
        arguments: [
            (EventKind.push, "[]", "line 1, column 1: expected an object, found an array"),
            (
                .push, #"{"aps": {"badge": -1}}"#,
                "line 1, column 19 (/aps/badge): -1 does not fit UInt"
            ),
            (
                .push, #"{"aps": {"bagde": 1}}"#,
                "line 1, column 10 (/aps/bagde): unknown key 'bagde'; did you mean 'badge'?"
            ),
            (.pushRegistered, "{}", "line 1, column 1: missing key 'deviceToken'"),
            (
                .pushRegistrationFailed, #"{"error": 5}"#,
                "line 1, column 11 (/error): expected a string, found the number 5"
            ),
            (
                .notificationSettings, "{\n  \"alert\": \"yes\"\n}",
                "line 2, column 12 (/alert): expected true or false, "
                    + "found the string \"yes\""
            ),
            (
                .localNotification, #"{"tilte": "x"}"#,
                "line 1, column 2 (/tilte): unknown key 'tilte'; did you mean 'title'?"
            ),
            (
                .openURL, #"{"uri": "a:b"}"#,
                "line 1, column 1: missing key 'url'\n"
                    + "line 1, column 2 (/uri): unknown key 'uri'; did you mean 'url'?"
            ),
            (.userActivity, #"{"title": "x"}"#, "line 1, column 1: missing key 'type'"),
            (.shortcut, "null", "line 1, column 1: expected an object, found null"),
            (.message, #"{"payload": 1}"#, "line 1, column 1: missing key 'topic'"),
        ] as [(EventKind, String, String)])
    func payloadErrors(kind: EventKind, payload: String, message: String) throws {
        let text = try error(kind, payload)
        #expect(text == "event '\(kind.rawValue)' cannot take this payload: \(message)")
    }

    @Test("a payload stands in the event as it came, with what it means")
    func content() throws {
        let payload = try JSONValue(
            parsing: #"{"aps": {"alert": {"title": "Hi"}, "badge": 3, "sound": "x"}, "uri": "a:b"}"#
        )
        let event = try LifecycleEvent(.push, payload: payload, origin: .host)
        #expect(event.payload == payload)
        guard case .push(let notification) = event.content else {
            Issue.record("\(event.content)")
            return
        }
        #expect(notification.aps?.badge == 3)
        #expect(notification.aps?.alert == .parts(title: "Hi", subtitle: nil, body: nil))
        #expect(notification.payload == payload)
    }

    @Test("a message that the host makes has the payload that one from outside has")
    func message() throws {
        let made = try LifecycleEvent.message(
            topic: #"a "b""#, payload: try JSONValue(parsing: "[1, 2]"), origin: .host)
        #expect(made.payload?.text == #"{"topic":"a \"b\"","payload":[1, 2]}"#)
        let again = try LifecycleEvent(.message, payload: made.payload, origin: .host)
        guard case .message(let message) = again.content else {
            Issue.record("\(again.content)")
            return
        }
        #expect(message.topic == #"a "b""#)
        #expect(message.payload?.text == "[1, 2]")
    }

    @Test(
        "origins as log lines show them",
        arguments: [
            (Origin.host, "host"),
            (.local(ModuleID(checked: "com.mm.push")), "com.mm.push"),
            (
                .signal(name: "USR1", uid: 1000, pid: 4711, value: nil),
                "signal USR1 from pid 4711 (uid 1000)"
            ),
            (
                .signal(name: "RTMIN+1", uid: 0, pid: 1, value: -7),
                "signal RTMIN+1 from pid 1 (uid 0), value -7"
            ),
            (.signal(name: "INT", uid: nil, pid: nil, value: nil), "signal INT"),
            (.control(uid: 1000, pid: 4711), "control from pid 4711 (uid 1000)"),
            (.inbox, "inbox"),
            (.push, "push"),
        ])
    func origin(origin: Origin, text: String) {
        #expect("\(origin)" == text)
    }

    @Test("what comes from outside is remote, the host and its modules are not")
    func isRemote() {
        let local: [Origin] = [.host, .local(ModuleID(checked: "com.mm.push"))]
        let remote: [Origin] = [
            .signal(name: "USR1", uid: 0, pid: 1, value: nil),
            .signal(name: "INT", uid: nil, pid: nil, value: nil),
            .control(uid: 0, pid: 1), .inbox, .push,
        ]
        #expect(local.filter { $0.isRemote } == [])
        #expect(remote.filter { !$0.isRemote } == [])
    }
}

@Suite("FetchResult")
struct FetchResultTests {
    @Test("newData before failed before noData, whatever the order")
    func joined() {
        let order: [FetchResult] = [.newData, .failed, .noData]
        for first in FetchResult.allCases {
            for second in FetchResult.allCases {
                let expected = order.first { $0 == first || $0 == second }
                #expect(first.joined(with: second) == expected)
            }
        }
    }
}

@Suite("Topics")
struct TopicTests {
    @Test(
        "a topic is wanted by its name, or by how it begins",
        arguments: [
            ("user", "user", true), ("user", "User", false), ("user", "use", false),
            ("user", "users", false), ("user.in", "user.*", true), ("user.", "user.*", true),
            ("user", "user.*", false), ("user", "*", true), ("", "*", true), ("", "", true),
            ("a*b", "a*b", true), ("axb", "a*b", false), ("a*", "a*", true), ("ab", "a**", false),
            ("é.x", "é.*", true),
        ])
    func wanted(topic: String, pattern: String, isWanted: Bool) {
        #expect(isTopic(topic, wantedBy: pattern) == isWanted)
    }
}
