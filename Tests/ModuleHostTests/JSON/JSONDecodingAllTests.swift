import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Decoding with all errors at once")
struct JSONDecodingAllTests {
    enum Color: String, Decodable, CaseIterable { case red, green }
    enum Size: String, Decodable { case small }

    struct Server: Decodable {
        var host: String
        var port: UInt16
        var color: Color
    }

    /// A type that refuses what is not complete.
    struct Checked: Decodable {
        var name: String

        enum CodingKeys: String, CodingKey { case name }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            guard !name.isEmpty else {
                throw DecodingError.dataCorruptedError(
                    forKey: .name, in: container, debugDescription: "a name has a letter")
            }
        }
    }

    struct Settings: Decodable {
        var file: String
        var sync: Bool?
        var interval: Duration
        var servers: [Server]
        var limits: [String: Int]
        var checked: Checked?
        var size: Size
    }

    func errors(_ text: String) throws -> [String] {
        let value = try JSONValue(parsing: Array(text.utf8))
        do throws(JSONError) {
            _ = try value.decodeReportingAll(Settings.self)
            return []
        } catch {
            return error.diagnostics.map { "\($0.place.line):\($0.place.column): \($0.message)" }
        }
    }

    @Test("every part is decoded, whatever is wrong with those before it")
    func all() throws {
        let found = try errors(
            """
            {
              "file": 5,
              "sync": "yes",
              "interval": "2 fortnights",
              "servers": [
                { "host": 1, "port": 70000, "color": "blue" },
                { "port": 1, "color": "red", "prot": 2 }
              ],
              "limits": { "a": "x", "b": 2, "c": true },
              "checked": { "name": 7 }
            }
            """)
        #expect(found.count == 12, "\(found)")
        for (index, word) in [
            "a string", "true or false", "fortnights", "a string", "70000", "blue", "host", "prot",
            "a whole number", "a whole number", "a string",
        ].enumerated() where index < found.count {
            #expect(found.joined(separator: "\n").contains(word), "\(word): \(found)")
        }
        #expect(found.contains { $0.contains("size") })
    }

    @Test("an error of a type's own is reported, and not where it may be about a blank value")
    func own() throws {
        let rest = #""file": "a", "interval": "1s", "servers": [], "limits": {}, "size": "small""#
        #expect(try errors("{\(rest)}") == [])
        let empty = try errors(#"{"checked": {"name": ""}, \#(rest)}"#)
        #expect(empty.count == 1 && empty[0].contains("a name has a letter"), "\(empty)")
        let wrong = try errors(#"{"checked": {"name": 7}, \#(rest)}"#)
        #expect(wrong.count == 1 && wrong[0].contains("a string"), "\(wrong)")
    }

    @Test("at most a hundred errors are collected")
    func bound() throws {
        let limits = (0..<1000).map { "\"k\($0)\": true" }.joined(separator: ", ")
        let found = try errors(
            #"{"file": "a", "interval": "1s", "servers": [], "limits": {\#(limits)}, "size": "small"}"#
        )
        #expect((100...101).contains(found.count), "\(found.count)")
    }
}
