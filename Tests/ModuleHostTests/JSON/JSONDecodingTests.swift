import Testing

@testable import ModuleHostCore

@Suite("JSON decoding")
struct JSONDecodingTests {
    struct Settings: Decodable, Equatable {
        enum Level: String, Decodable { case low, high }
        struct Server: Decodable, Equatable {
            var host: String
            var port: UInt16
        }
        var name: String
        var level: Level?
        var servers: [Server]
        var interval: Duration?
        var ratio: Double?
        var limits: [String: Int8]?
        var raw: JSONValue?
    }

    @Test("decodes what it is asked for")
    func decodes() throws {
        let value = try JSONValue(
            parsing: """
                {"name": "n", "level": "high", "servers": [{"host": "h", "port": 65535}],
                 "interval": "15s", "ratio": 2, "limits": {"a": -128, "b": 127}, "raw": {"x": [1]}}
                """)
        let settings = try value.decode(Settings.self)
        #expect(settings.name == "n" && settings.level == .high)
        #expect(settings.servers == [Settings.Server(host: "h", port: 65535)])
        #expect(settings.interval == .seconds(15) && settings.ratio == 2)
        #expect(settings.limits == ["a": -128, "b": 127])
        #expect(settings.raw?["x"]?.pointer == "/raw/x")
        let least = try JSONValue(parsing: #"{"name":"n","servers":[],"ratio":null}"#)
        #expect(try least.decode(Settings.self) == Settings(name: "n", servers: []))
    }

    @Test(
        "says where and what is wrong",
        arguments: [
            ("[]", "line 1, column 1: expected an object, found an array"),
            ("{\"name\":1}", "line 1, column 9 (/name): expected a string, found the number 1"),
            ("{\"servers\":[]}", "line 1, column 1: missing key 'name'"),
            (
                "{\"name\":\"n\",\"servers\":{}}",
                "line 1, column 23 (/servers): expected an array, found an object"
            ),
            (
                "{\"name\":\"n\",\"servers\":[],\"level\":\"hi\"}",
                "line 1, column 34 (/level): Cannot initialize Level from invalid String value hi"
            ),
            (
                "{\"name\":\"n\",\"servers\":[{\"host\":\"h\",\"port\":65536}]}",
                "line 1, column 43 (/servers/0/port): 65536 does not fit UInt16"
            ),
            (
                "{\"name\":\"n\",\"servers\":[{\"host\":\"h\",\"port\":1.5}]}",
                "line 1, column 43 (/servers/0/port): expected a whole number, found the number 1.5"
            ),
            (
                "{\"name\":\"n\",\"servers\":[{\"host\":\"h\",\"port\":\"x\"}]}",
                "line 1, column 43 (/servers/0/port): expected a whole number, found the string \"x\""
            ),
            (
                "{\"name\":\"n\",\"servers\":[],\"interval\":\"15\"}",
                "line 1, column 37 (/interval): a duration needs its unit: \"15ms\", \"15s\" or \"15m\"?"
            ),
            (
                "{\"name\":\"n\",\"servers\":[],\"ratio\":1e999}",
                "line 1, column 34 (/ratio): 1e999 does not fit Double"
            ),
            (
                "{\"name\":\"n\",\"servers\":[],\"limits\":{\"a\":128}}",
                "line 1, column 40 (/limits/a): 128 does not fit Int8"
            ),
        ])
    func diagnostics(text: String, message: String) throws {
        #expect(Self.message(of: Settings.self, text) == message)
    }

    @Test("reports every unknown key, and the one that is missing because of it")
    func unknownKeys() {
        #expect(
            Self.message(
                of: Settings.self,
                #"{"name":"n","severs":[],"zzz":1}"#) == """
                    line 1, column 1: missing key 'servers'
                    line 1, column 13 (/severs): unknown key 'severs'; did you mean 'servers'?
                    line 1, column 25 (/zzz): unknown key 'zzz'
                    """)
        #expect(
            Self.message(
                of: Settings.self, #"{"name":"n","servers":[{"host":"h","port":1,"prot":2}]}"#)
                == "line 1, column 45 (/servers/0/prot): unknown key 'prot'; did you mean 'port'?")
    }

    @Test("an object opened twice knows the keys of both")
    func flattened() throws {
        struct Both: Decodable {
            struct A: Decodable { var a: Int }
            struct B: Decodable { var b: Int }
            let a: A
            let b: B
            init(from decoder: any Decoder) throws {
                a = try A(from: decoder)
                b = try B(from: decoder)
            }
        }
        #expect(try JSONValue(parsing: #"{"a":1,"b":2}"#).decode(Both.self).b.b == 2)
        #expect(
            Self.message(of: Both.self, #"{"a":1,"b":2,"c":3}"#)?.hasPrefix(
                "line 1, column 14 (/c): unknown key 'c'") == true)
    }

    @Test("large objects are indexed, and strict all the same")
    func large() throws {
        let members = (0..<1000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let value = try JSONValue(parsing: "{" + members + "}")
        let decoded = try value.decode([String: Int].self)
        #expect(decoded.count == 1000 && decoded["k999"] == 999)
    }

    @Test("what is wrong with a type's own value stands at that value")
    func ownErrors() {
        struct Even: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if try container.decode(Int.self) % 2 == 0 { return }
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "expected an even number")
            }
        }
        #expect(
            Self.message(of: [String: [Even]].self, #"{"a":[2,3]}"#)
                == "line 1, column 9 (/a/1): expected an even number")
    }

    static func message<T: Decodable>(of type: T.Type, _ text: String) -> String? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: text).decode(type)
            return nil
        } catch {
            return error.description
        }
    }
}
