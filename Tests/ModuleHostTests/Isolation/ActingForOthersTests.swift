import TestSupport
import Testing

@testable import ModuleHostCore

/// For whom a module's process may make calls: what it says of that decides what it reaches.
@Suite("Modules of other processes: calls for others", .timeLimit(.minutes(10)))
struct ActingForOthersTests {
    /// A program that makes each of these requests when it is called, and replies the answers.
    private static func program(_ requests: [String]) -> [String] {
        let cases = """
            *'"method":"call"'*)
                result="\\"$(printf %s "$line" | tr -d '"')\\""
                for request; do
                    printf '%s\\n' "$request"
                    IFS= read -r answer
                    result=$result,$answer
                done
                result=[$result] ;;
            """
        return ShellModule.command(
            "x.b", declaring: #","routes":[{"pattern":"ask","access":"public"}]"#, cases: cases)
            + ["sh"] + requests
    }

    private static let url = #""url":"test://x.a/act""#
    private static let action = #""module":"x.a","action":"act""#

    private static func ask(_ method: String, _ parameters: String...) -> String {
        #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":{"#
            + parameters.joined(separator: ",") + "}}"
    }

    /// What came of a request: its reply, or what the error says.
    private static func outcome(_ answer: JSONValue) -> String {
        guard let error = answer["error"] else {
            return answer["result"]?["reply"]?.string ?? answer["result"]?.text ?? "?"
        }
        return "\(error["code"]?.text ?? "?") \(error["data"]?.string ?? "")"
    }

    /// What comes of each request of a module that is called from outside, by process 42.
    ///
    /// - Returns: The call as the program sees it, and the outcomes.
    private func outcomes(
        of requests: [String]
    ) async throws -> (call: String, outcomes: [String]) {
        let probe = Probe()
        probe.whenCalled("a act") { _, call in "for \(call.origin)" }
        let host = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a", type: "CallProbe"),
                HostUnderTest.Entry(name: "b", command: Self.program(requests)),
            ], top: #""schemes": ["test"]"#, processes: .quick, probe: probe
        ).launched()
        let answers = try JSONValue(parsing: await host.open("test://x.b/ask")).elements.map(\.self)
        #expect(await host.stopped() == .stopped)
        return (answers[0].string ?? "?", answers.dropFirst().map(Self.outcome))
    }

    private static func mayNot(_ origin: String) -> String {
        "-32602 '\(origin)' is not an origin that this module can act for: give the one of an event or "
            + "call that came from outside, as the host sent it, or none to act for the module itself"
    }

    private static let hidden = "-32001 "
    private static let sender = "control from pid 42 (uid 1000)"

    @Test("a program names an origin by the value that it was given")
    func values() async throws {
        let values = [
            #"{"kind":"host"}"#, #"{"kind":"local","module":"x.c"}"#,
            #"{"kind":"local","module":"x.b"}"#, #"{"kind":"push"}"#, #"{"kind":"inbox"}"#,
            #"{"kind":"control","uid":1000,"pid":42}"#, #"{"kind":"control","uid":0,"pid":1}"#,
            #"{"kind":"signal","name":"USR1"}"#, #"{"kind":"pussh"}"#, #""push""#,
        ]
        let said = values.map { #""from":\#($0)"# }
        let (call, outcomes) = try await outcomes(
            of: said.map { Self.ask("open", Self.url, $0) }
                + [0, 3, 5].map { Self.ask("canopen", Self.url, said[$0]) }
                + [0, 2, 3, 5].map { Self.ask("call", Self.action, said[$0]) }
                // Words beside the value lend nothing: there is no such parameter.
                + [Self.ask("open", Self.url, said[3], #""origin":"x.b""#)])
        #expect(call.contains("origin:\(Self.sender)"))
        #expect(call.contains("from:{kind:control,uid:1000,pid:42}"))
        let none = { (value: String) in
            "-32602 'from' is not an origin: \(value); give the one of the event or call "
                + "that the URL came with, as the host sent it"
        }
        #expect(
            outcomes == [
                Self.mayNot("host"), Self.mayNot("x.c"), "for x.b", Self.hidden, Self.hidden,
                Self.hidden, Self.mayNot("control from pid 1 (uid 0)"),
                Self.mayNot("signal USR1"), none(#"{"kind":"pussh"}"#), none(#""push""#),
                Self.mayNot("host"), "false", "false",
                Self.mayNot("host"), "for x.b", "-32001 ", "-32001 ",
                "-32602 line 1, column 48 (/origin): unknown key 'origin'",
            ])
    }

    @Test("one from outside reaches through it what it reaches by itself, and is named")
    func reached() async throws {
        let url = #""url":"test://x.a/sum?left=1&right=2""#
        let probe = Probe()
        probe.whenCalled("a sum") { _, call in
            probe.note("sum for \(call.origin)")
            return ""
        }
        let request = Self.ask("open", url, #""from":{"kind":"control","uid":1000,"pid":42}"#)
        let host = try await HostUnderTest(
            [
                HostUnderTest.Entry(name: "a", type: "CallProbe"),
                HostUnderTest.Entry(name: "b", command: Self.program([request])),
            ], top: #""schemes": ["test"]"#, processes: .quick, probe: probe
        ).launched()
        #expect(await host.open("test://x.b/ask").hasSuffix(#""result":{"reply":3}}]"#))
        #expect(probe.entries.contains("sum for \(Self.sender)"))
        #expect(await host.stopped() == .stopped)
    }
}
