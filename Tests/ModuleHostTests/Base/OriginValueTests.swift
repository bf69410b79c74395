import Testing

@testable import ModuleHostCore

@Suite("Origins as values")
struct OriginValueTests {
    static let origins: [Origin] =
        [.host, .inbox, .push]
        + ["x.a", "host.a", "signal.a", "control.a", "push.inbox"].map {
            .local(ModuleID(checked: $0))
        }
        + [0, 1000, .max].flatMap { uid in
            [1, Int32.max].map { .control(uid: uid, pid: $0) }
        }
        + ["USR1", "RTMIN+3"].flatMap { name in
            [nil, 0, UInt32.max].flatMap { uid in
                [nil, 1, Int32.max].flatMap { pid in
                    [nil, 0, -1, Int32.min, .max].map {
                        .signal(name: name, uid: uid, pid: pid, value: $0)
                    }
                }
            }
        }

    @Test("each is read as it was written", arguments: origins)
    func back(origin: Origin) throws {
        var json = JSONWriter()
        json.value(origin)
        #expect(try Origin(JSONValue(parsing: json.bytes)) == origin)
    }

    @Test("members of a later version are passed over")
    func more() throws {
        let value = try JSONValue(parsing: #"{"kind":"push","pid":1,"via":"x"}"#)
        #expect(Origin(value) == .push)
    }

    @Test(
        "what is not an origin is none",
        arguments: [
            "null", #""push""#, "[]", "{}", #"{"kind":null}"#, #"{"kind":"Host"}"#,
            #"{"kind":"pussh"}"#, #"{"kind":"local"}"#, #"{"kind":"local","module":"x"}"#,
            #"{"kind":"local","module":5}"#, #"{"kind":"control"}"#,
            #"{"kind":"control","uid":1}"#, #"{"kind":"control","pid":1}"#,
            #"{"kind":"control","uid":-1,"pid":1}"#, #"{"kind":"control","uid":"1","pid":1}"#,
            #"{"kind":"control","uid":1,"pid":2147483648}"#,
            #"{"kind":"control","uid":1,"pid":1.5}"#, #"{"kind":"signal"}"#,
            #"{"kind":"signal","name":5}"#, #"{"kind":"signal","name":"USR1","uid":null}"#,
            #"{"kind":"signal","name":"USR1","pid":"1"}"#,
            #"{"kind":"signal","name":"USR1","value":2147483648}"#,
        ])
    func none(text: String) throws {
        #expect(try Origin(JSONValue(parsing: text)) == nil)
    }
}
