import TestSupport
import Testing

@testable import ModuleHostCore

/// What a module's process may send only where the slatefile lets it.
@Suite("Modules of other processes: permissions", .timeLimit(.minutes(10)))
struct PermissionTests {
    private let probe = Probe()

    /// A program that sends an event when it is asked to, and replies with the answer and its process.
    private func entry(sending kind: EventKind, may: String = "") -> HostUnderTest.Entry {
        let cases = """
            *'"method":"call"'*)
                printf '%s\\n' '{"jsonrpc":"2.0","id":7,"method":"send","params":{"event":"\(kind.rawValue)"}}'
                IFS= read -r answer
                result=[$answer,$$] ;;
            """
        return HostUnderTest.Entry(
            name: "b", more: may,
            command: ShellModule.command(
                "x.b", declaring: #","routes":[{"pattern":"ask"}]"#, cases: cases))
    }

    private func entries(_ entry: HostUnderTest.Entry) -> [HostUnderTest.Entry] {
        [HostUnderTest.Entry(name: "a", type: "CallProbe"), entry, HostUnderTest.Entry(name: "c")]
    }

    private func launched(_ entry: HostUnderTest.Entry) async throws -> HostUnderTest {
        try await HostUnderTest(entries(entry), processes: .quick, probe: probe).launched()
    }

    /// Has the program send.
    private func ask(_ host: HostUnderTest) async throws -> (answer: JSONValue, process: Int?) {
        let reply = try await host.asFirst {
            try $0.context.mediator.perform("x.b", "ask", as: JSONValue.self).text
        }
        let parts = try JSONValue(parsing: reply).elements.map(\.self)
        return (parts[0], parts[1].int)
    }

    private static let may = #""may": ["state"]"#

    private static func refusal(_ kind: EventKind) -> RPCError {
        RPCError(
            .notPermitted,
            "a module in a process of its own cannot send '\(kind.rawValue)', which concerns the whole app: "
                + #"to let it, add "may": ["state"] to its entry in the slatefile"#)
    }

    static let kinds = EventKind.allCases.filter { !$0.isDurable && !$0.isHostsOwn }

    @Test("events of the whole app are refused, and nothing happens", arguments: kinds)
    func refused(kind: EventKind) async throws {
        let host = try await launched(entry(sending: kind))
        let before = probe.entries("c")
        let (answer, _) = try await ask(host)
        let refusal = Self.refusal(kind)
        #expect(answer["error"]?["code"]?.int == refusal.code.rawValue)
        #expect(answer["error"]?["message"]?.string == refusal.message)
        await host.settled()
        #expect(probe.entries("c") == before)
        #expect(await host.stopped() == .stopped)
    }

    @Test("they are delivered where the slatefile lets the module send them", arguments: kinds)
    func permitted(kind: EventKind) async throws {
        let host = try await launched(entry(sending: kind, may: Self.may))
        let (answer, _) = try await ask(host)
        #expect(answer["result"]?.text == "{}")
        if kind == .terminate {
            #expect(await host.end() == .stopped)
        } else {
            await host.settled()
            // An event that the state makes meaningless is ignored, whatever its sender.
            if kind != .foreground { #expect(probe.entries("c").contains("c \(kind.rawValue)")) }
            #expect(await host.stopped() == .stopped)
        }
    }

    @Test("a reload that changes nothing else holds at once, for the process that runs")
    func reload() async throws {
        let host = try await launched(entry(sending: .memoryWarning))
        let (refused, process) = try await ask(host)
        #expect(refused["error"] != nil)
        let permitted = entry(sending: .memoryWarning, may: Self.may)
        #expect(try await host.reload(entries(permitted)).text == "applied: adjusted x.b")
        let (accepted, same) = try await ask(host)
        #expect(accepted["result"]?.text == "{}")
        #expect(process != nil && same == process)
        #expect(
            try await host.reload(entries(entry(sending: .memoryWarning))).text
                == "applied: adjusted x.b")
        let (again, last) = try await ask(host)
        #expect(again["error"] != nil && last == process)
        #expect(await host.stopped() == .stopped)
    }
}
