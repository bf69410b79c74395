import AppService
import TestSupport
import Testing

@testable import ModuleHostCore

/// What `docs/control.md` says of methods, errors and limits is so.
@Suite("Documentation of the control socket", .timeLimit(.minutes(10)))
struct ControlDocumentationTests {
    /// The cells of the rows of the table under a heading.
    private func rows(under heading: String) throws -> [[String]] {
        let text = try Repository.text(of: "docs/control.md")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != "## \(heading)" }.dropFirst()
            .prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|").map {
                String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        }
    }

    @Test("every method is there, and no other")
    func methods() throws {
        let test = try HostUnderTest("a", probe: Probe())
        let reloader = SlatefileReloader(
            test.host, options: HostDaemonOptions(), log: test.recorder.log)
        let daemon = ControlledDaemon(
            test.host, slatefile: "slatefile.json", reloader: reloader)
        let embedded = ControlledDaemon(test.host, slatefile: nil)
        let documented = try rows(under: "Methods").dropFirst().map { $0[0] }
        for host in [daemon, embedded] {
            let names = ControlMethods(of: host).names + ["cancel", "ping", "tail"]
            #expect(documented == names.sorted().map { "`\($0)`" })
        }
        test.host.gate.lane.close()
    }

    @Test("every error is there, with its exit code")
    func errors() throws {
        let documented = try rows(under: "Errors").dropFirst().map { "\($0[0]) \($0[2])" }
        #expect(
            documented
                == RPCErrorCode.exitCodes.map { "\($0.code.rawValue) \($0.exit.rawValue)" })
    }

    @Test("the limits are those that hold")
    func limits() throws {
        let limits = ControlServer.Limits()
        let load = InFlightBudget.Limits()
        let rows = try rows(under: "Limits").dropFirst()
        let expected = [
            "\(limits.connections);",
            "1 MiB, and \(limits.lineTime.components.seconds) s from",
            "\(limits.session.calls) on a connection",
            "reading of calls stops at \(limits.session.outputMark >> 10) KiB, the connection is "
                + "closed at \(limits.session.output >> 20) MiB, or after "
                + "\(limits.readTime.components.seconds) s; of all connections together at "
                + "\(limits.output >> 20) MiB the one",
            "\(load.sender >> 20) MiB of a connection: it is read no further until some are done. "
                + "\(load.all >> 20) MiB of all senders",
        ]
        #expect(InFlightBudget.overhead == 512)
        #expect(limits.session.line == 1 << 20)
        #expect(rows.count == expected.count)
        for (row, text) in zip(rows, expected) { #expect(row.last?.hasPrefix(text) == true) }
    }
}
