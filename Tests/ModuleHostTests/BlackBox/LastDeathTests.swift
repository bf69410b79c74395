import Testing

@testable import ModuleHostCore

@Suite("How the last host died")
struct LastDeathTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let death: LastDeath
        let text: String
        let json: String
        var testDescription: String { text }

        init(_ text: String, _ json: String, _ change: (inout LastDeath) -> Void) {
            var death = LastDeath(
                cause: .process, processID: 4711, startedAt: WallTime(seconds: 0))
            change(&death)
            self.death = death
            self.text = text
            self.json = json
        }
    }

    private static func ids(_ texts: String...) -> [ModuleID] {
        texts.map { ModuleID(checked: $0) }
    }

    static let rows = [
        Row("the last host (process 4711) died while no module was running", "") { _ in },
        Row(
            "the last host (process 4711) died while no module was running, in 'push'",
            #","event":"push""#
        ) { $0.activity = .event(.push) },
        Row(
            "the last host (process 4711) died while 'x.a' handled 'push'",
            #","module":"x.a","event":"push""#
        ) {
            $0.module = ids("x.a")[0]
            $0.activity = .event(.push)
        },
        Row(
            "the last host (process 4711) died while 'x.a' handled 'push' (inbox 3:4096, attempt 1); unresponsive: x.b, x.c",
            #","module":"x.a","event":"push","position":"3:4096","attempt":1,"unresponsive":["x.b","x.c"]"#
        ) {
            $0.module = ids("x.a")[0]
            $0.activity = .event(.push)
            $0.current = .init(position: EventPosition(segment: 3, offset: 4096), attempt: 1)
            $0.overdue = ids("x.b", "x.c")
        },
        Row(
            "the last host (process 4711) died while 'x.c' was running, called by 'x.b', called by 'x.a', in 'message'",
            #","module":"x.c","calledBy":["x.b","x.a"],"event":"message""#
        ) {
            $0.module = ids("x.c")[0]
            $0.callers = ids("x.b", "x.a")
            $0.activity = .event(.message)
        },
        Row(
            "the last host (process 4711) died while 'x.b' was running, called by 'x.a', in init",
            #","module":"x.b","calledBy":["x.a"],"during":"init""#
        ) {
            $0.module = ids("x.b")[0]
            $0.callers = ids("x.a")
            $0.activity = .making
        },
        Row(
            "the last host (process 4711) died while 'x.a' was being created",
            #","module":"x.a","during":"init""#
        ) {
            $0.module = ids("x.a")[0]
            $0.activity = .making
        },
        Row(
            "the last host (process 4711) died while 'x.a' was being released",
            #","module":"x.a","during":"release""#
        ) {
            $0.module = ids("x.a")[0]
            $0.activity = .release
        },
        Row(
            "the last host (process 4711) died while 'x.a' was running, outside events; work off the lane ran: x.b",
            #","module":"x.a","startingUp":["x.b"]"#
        ) {
            $0.module = ids("x.a")[0]
            $0.startingUp = ids("x.b")
        },
    ]

    @Test("is one line, and an object with the same in it", arguments: rows)
    func words(_ row: Row) throws {
        #expect(row.death.description == row.text)
        var json = JSONWriter()
        row.death.write(to: &json)
        let expected = """
            {"text":"\(row.text)","cause":"process","pid":4711,\
            "startedAt":"1970-01-01T00:00:00.000Z"\(row.json)}
            """
        #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    }

    @Test("when the machine went down no module is the cause")
    func machine() {
        var death = Self.rows[3].death
        death.cause = .machine
        #expect(
            death.description
                == "the machine went down while the last host (process 4711) ran")
    }
}
