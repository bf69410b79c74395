import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Slatefile schema")
struct SlatefileSchemaTests {
    @Test("the file at the root is the schema, to the byte")
    func file() throws {
        let shipped = try Repository.text(of: "slatefile.schema.json")
        #expect(
            shipped == Slatefile.jsonSchema,
            "run: swift run hostd schema > slatefile.schema.json")
    }

    @Test("schema and reader know the same keys")
    func keys() throws {
        let schema = try JSONValue(parsing: Slatefile.jsonSchema)
        func check<Key: SlatefileKey>(_ type: Key.Type, _ definition: String?) throws {
            let object = try #require(definition.map { schema["$defs"]?[$0] } ?? schema)
            let names = object["properties"]?.members.map(\.key)
            #expect(names == Key.allCases.map(\.rawValue))
            #expect(
                object["required"]?.elements.compactMap(\.string) ?? []
                    == Key.mandatory.map(\.rawValue))
            #expect(object["additionalProperties"]?.bool == false)
            for member in try #require(object["properties"]).members {
                let reference = member.value["$ref"]?.string.flatMap { schema.resolve($0) }
                #expect((member.value["description"] ?? reference?["description"]) != nil)
            }
        }
        try check(AppKey.self, nil)
        try check(ModuleKey.self, "module")
        try check(RewriteKey.self, "rewrite")
        try check(SignalKey.self, "signal")
        try check(StartupKey.self, "startup")
        try check(DeadlineKey.self, "deadlines")
        try check(SecurityKey.self, "security")
    }

    @Test("what the schema gives as a default is what the reader fills in")
    func defaults() throws {
        let schema = try JSONValue(parsing: Slatefile.jsonSchema)
        func text(_ definition: String, _ key: String) -> String? {
            schema["$defs"]?[definition]?["properties"]?[key]?["default"]?.string
        }
        let deadlines = Slatefile.Deadlines()
        for (key, value) in [
            ("event", deadlines.event), ("call", deadlines.call), ("launch", deadlines.launch),
            ("stop", deadlines.stop),
            ("stopAll", deadlines.stopAll),
        ] {
            #expect(try DurationReader.read(text("deadlines", key) ?? "") == value)
        }
        #expect(
            try DurationReader.read(text("startup", "deadline") ?? "")
                == Slatefile.Startup().deadline)
        #expect(
            schema["$defs"]?["module"]?["properties"]?["backlog"]?["default"]?.int
                == Slatefile.Defaults.backlog)
    }

    @Test("its patterns say what the reader says")
    func patterns() throws {
        let durations = ["1ms", "0s", "00m", "01h", "1", "s", "-1s", "1.5s", "2 s", "1d", ""]
        try check(DurationReader.pattern, durations) { (try? DurationReader.read($0)) != nil }
        let ids = [
            "a.b", "com.mm.push", "com", "a..b", ".a", "a.", "a-.b", "a.-b", "a.b-c", "1a.b", "a.1",
            "A.B", "a.b_c", "a.é", "",
        ]
        try check(ModuleID.pattern, ids) { (try? ModuleID($0)) != nil }
        let signals =
            SignalName.standard + (0...35).map { "RTMIN+\($0)" }
            + ["KILL", "RTMIN", "RTMIN+01", "SIGUSR1", "usr1", ""]
        try check(SignalName.pattern, signals) { (try? SignalName($0)) != nil }
        try check(SlatefileReader.schemePattern, ["a", "a+b-c.1", "1a", "", "a_b", "é"]) {
            SlatefileReader.isScheme($0.utf8)
        }
        try check(ConfigExpansion.variablePattern, ["A", "_a1", "1A", "", "A-B", "É"]) {
            ConfigExpansion.isVariableName($0.utf8)
        }
    }

    private func check(
        _ pattern: String, _ words: [String], _ isAccepted: (String) -> Bool
    ) throws {
        let regex = try Regex(pattern)
        for word in words {
            #expect((try regex.wholeMatch(in: word) != nil) == isAccepted(word), "\(word)")
        }
    }
}

extension JSONValue {
    /// The value that a reference such as `#/$defs/module` means.
    fileprivate func resolve(_ reference: String) -> JSONValue? {
        reference.split(separator: "/").dropFirst().reduce(self as JSONValue?) { value, key in
            value?[String(key)]
        }
    }
}
