import TestSupport
import Testing

/// Durable events of a Swift module, in the real host.
@Suite("a module that sends events through the inbox", .timeLimit(.minutes(10)))
struct ParcelRunTests {
    private static let program = HostProcess.program("TestHost")

    private func slatefile(_ more: String) -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.parcels", "entry": "TestHost.ParcelModule"\(more)},
          {"id": "x.listener", "entry": "TestHost.ParcelListener"}
        ]}
        """
    }

    private func call(_ action: String, _ parameters: String, in run: HostdRun) throws -> String {
        let outcome = try HostProcess.run(
            ["call", "x.parcels", action, parameters], program: Self.program, in: run.folder.path)
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        return outcome.output
    }

    @Test(
        "each is accepted once and delivered, from the host's process and from another",
        arguments: ["", #", "isolation": "process""#])
    func sends(more: String) throws {
        let run = try HostdRun(slatefile(more), program: Self.program).ready()
        #expect(try call("arrived/:number", #"{"number": 7}"#, in: run) == "\"accepted\"\n")
        try run.process.waitForLine(containing: "parcel 7 from gate 3")
        #expect(try call("arrived/:number", #"{"number": 7}"#, in: run) == "\"known\"\n")
        let refused = try call("refused/:event", #"{"event": "background"}"#, in: run)
        #expect(refused == "\"invalid: event 'background' takes no payload\"\n")
        let invalid = try call("refused/:event", #"{"event": "open-url"}"#, in: run)
        #expect(invalid.hasPrefix("\"invalid: event 'open-url' cannot take this payload: "))
        let delivered = try call("delivered/:number", #"{"number": 8}"#, in: run)
        #expect(delivered == "\"1 received it, 0 failed\"\n")
        try run.process.waitForLine(containing: "parcel 8 from")
        let failed = try call("delivered/:number", #"{"number": 0}"#, in: run)
        #expect(failed == "\"0 received it, 1 failed\"\n")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a delivery that no module receives says so",
        arguments: ["", #", "isolation": "process""#])
    func unheard(more: String) throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.parcels", "entry": "TestHost.ParcelModule"\(more)}
            ]}
            """, program: Self.program
        ).ready()
        let reply = try call("delivered/:number", #"{"number": 8}"#, in: run)
        #expect(reply.hasPrefix("\"no module listens to topic "), "\(reply)")
        #expect(try run.terminated().exit == .code(0))
    }
}
