import TestSupport
import Testing

@testable import ModuleHostCore

/// Each file of `Inputs/slatefiles/broken`, named by its defect, against what is said of it.
@Suite("Broken slatefiles")
struct BrokenSlatefileTests {
    static let folder = "slatefiles/broken"
    static let names = Inputs.names(in: folder)
        .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }

    @Test("every error at its place", arguments: names)
    func rendering(name: String) throws {
        let bytes = try Inputs.bytes("\(Self.folder)/\(name).json")
        let expected = try Inputs.bytes("\(Self.folder)/\(name).expected")
        #expect(Slatefile.rendering(of: bytes) == String(decoding: expected, as: UTF8.self))
    }

    @Test("there are enough of them")
    func count() {
        #expect(Self.names.count >= 40)
    }

    @Test("20 MB")
    func twentyMegabytes() {
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: 20_000_000)
        #expect(
            Slatefile.rendering(of: bytes)?.hasPrefix(
                "slatefile.json:1:1: error: 19.1 MiB is more than the 16 MiB that are read\n")
                == true)
    }

    @Test("more modules than there may be are one error")
    func tooManyModules() {
        let module = "{\"id\":\"a.b\"},"
        let modules = String(repeating: module, count: 50_000) + module.dropLast()
        let text = "{\"slate\":1,\"app\":\"a\",\"modules\":[\n\(modules)]}"
        #expect(
            Slatefile.diagnostics(of: text) == ["line 2, column 650001: more than 50000 modules"])
    }

    @Test("a main module that is not enabled, and whose id is not a string")
    func mainWithoutID() {
        let text =
            #"{"slate":1,"app":"a","modules":[{"id":1,"entry":"A.B","main":true,"enabled":false}]}"#
        #expect(
            Slatefile.diagnostics(of: text) == [
                "line 1, column 22: the main module '?' is not enabled, and no other is main",
                "line 1, column 39: expected a module id, found the number 1",
            ])
    }

    @Test("errors end at a thousand")
    func tooManyErrors() {
        let modules = Array(repeating: "{\"id\":\"a.b\",\"entry\":\"A.B\"}", count: 2000)
        let text =
            "{\"slate\":1,\"app\":\"a\",\"modules\":[\n\(modules.joined(separator: ",\n"))]}"
        let rendering = Slatefile.rendering(of: Array(text.utf8))
        #expect(
            rendering?.hasSuffix("\n1000 errors in slatefile.json; there may be more\n") == true)
    }

    @Test("variables that are not set count towards the thousand errors")
    func tooManyVariables() {
        let modules = Array(
            repeating: #"{"id":"a.b","entry":"A.B","config":{"a":"${NOPE}"},"x":1}"#, count: 2000)
        let text =
            "{\"slate\":1,\"app\":\"a\",\"modules\":[\n\(modules.joined(separator: ",\n"))],}"
        let rendering = Slatefile.rendering(of: Array(text.utf8))
        #expect(
            rendering?.hasSuffix("\n1000 errors in slatefile.json; there may be more\n") == true)
    }

    @Test("an error that only follows from another one is not reported")
    func consequences() {
        let text = """
            {"slate": 1, "app": "a", "deadlines": {"event": "1"}, "modules": [
             {"id": "a.b", "entry": "A.B", "main": true, "deadline": "25h", "killAfter": "1s"},
             {"id": "a.c", "entry": "A.B", "killAfter": "1s"},
             {"id": "a.d", "entry": "A.B", "deadline": "2s", "killAfter": "1s"},
             {"id": "a.e", "entry": "A.B", "config": {"root": "${NOPE}", "other": ""}}]}
            """
        let diagnostics = Slatefile.diagnostics(of: text) { use in
            guard let config = use.config else { return [] }
            let offsets = config.members.map {
                config.document.nodes[$0.value.node].range.lowerBound
            }
            return [.config(.unplaced(offsets.map { ($0, .refused("it is empty")) }))]
        }
        #expect(
            diagnostics == [
                "line 1, column 49: a duration needs its unit: \"1ms\", \"1s\" or \"1m\"?",
                "line 2, column 58: a duration is at most \"24h\": '25h'",
                "line 4, column 63: 'killAfter' (1s) is shorter than the deadline (2s): "
                    + "the module would be killed before it is unresponsive",
                "line 5, column 52: environment variable 'NOPE' is not set",
                "line 5, column 71: it is empty",
            ])
    }

    @Test("settings are not checked once there are a thousand errors")
    func uncheckedSettings() {
        let modules = (0..<2000).map { #"{"id":"a.m\#($0)","entry":"A.B"}"# }
        let text =
            "{\"slate\":1,\"app\":\"a\",\"modules\":[\n\(modules.joined(separator: ",\n"))]}"
        var checks = 0
        let diagnostics = Slatefile.diagnostics(of: text) { _ in
            checks += 1
            return [.config(.unplaced([(0, .refused("wrong"))]))]
        }
        #expect(diagnostics.count == 1000)
        #expect(checks == 1000)
    }

    @Test("colours are the caller's choice")
    func colors() throws {
        let error = try #require(throws: SlatefileError.self) {
            try Slatefile.read(Array("[]".utf8), path: "s", environment: { _ in nil })
        }
        #expect(
            error.rendered(colored: true) == """
                \u{1B}[1ms:1:1:\u{1B}[0m \u{1B}[1;31merror:\u{1B}[0m expected an object, found an array
                  1 | []
                    | \u{1B}[1;32m^\u{1B}[0m
                1 error in s

                """)
        #expect(error.description == error.rendered(colored: false))
    }

    @Test("each error says what kind it is and where")
    func typed() throws {
        let text = """
            {"slate": 1, "app": "a", "modules": [
              {"id": "a.b", "entry": "A.B", "main": true, "deadlin": "1s"}
            ]}
            """
        let error = try #require(throws: SlatefileError.self) {
            try Slatefile.read(Array(text.utf8), path: "s", environment: { _ in nil })
        }
        #expect(
            error.diagnostics.map(\.kind) == [.json(.unknownKey("deadlin", nearest: "deadline"))])
        #expect(error.diagnostics.map(\.pointer) == ["/modules/0/deadlin"])
        #expect(error.diagnostics.map(\.place) == [TextPlace(line: 2, column: 47)])
    }
}

extension Slatefile {
    /// What a terminal shows of the errors, with only `HOME` set; nil if there are none.
    static func rendering(of bytes: [UInt8]) -> String? {
        do throws(SlatefileError) {
            _ = try read(
                bytes, path: "slatefile.json", environment: { $0 == "HOME" ? "/home/x" : nil })
            return nil
        } catch {
            return error.rendered(colored: false)
        }
    }

    /// The errors, each with its place, in short.
    static func diagnostics(
        of text: String, environment: [String: String] = [:],
        checkEntry: ((EntryUse) -> [EntryDiagnostic])? = nil
    ) -> [String] {
        do throws(SlatefileError) {
            _ = try read(
                Array(text.utf8), path: "slatefile.json", environment: { environment[$0] },
                checkEntry: checkEntry)
            return []
        } catch {
            return error.diagnostics.map { "\($0.place): \($0.message)" }
        }
    }
}
