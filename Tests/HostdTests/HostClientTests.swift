import ModuleHost
import TestSupport
import Testing

/// The client of docs/control.md, and a host.
@Suite("A client of hostd run", .timeLimit(.minutes(10)))
struct HostClientTests {
    @Test("the example of docs/control.md prints what the document says")
    func example() async throws {
        let run = try HostdRun(HostdRun.shippedSlatefile()).ready()
        #expect(
            try await Example.answers(of: run.folder.path(".hostd")) == ["active", "1", "true"])
    }

    @Test("every method has its result")
    func methods() async throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let client = try HostClient(stateDirectory: run.folder.path(".hostd"))
        let process = Int(run.process.processID)
        #expect(client.hostProcessID == run.process.processID)
        #expect(try await client.about()["pid"]?.int == process)
        #expect(try await client.status()["state"]?.string == "active")
        #expect(try await client.health()["healthy"]?.bool == true)
        #expect(try await client.modules().count == 2)
        #expect(try await client.metrics().hasPrefix("# HELP hostd_"))
        #expect(try await client.routes().kind == .object)
        let tail = try await client.tail()
        try await client.post("user.posted", try JSONValue(parsing: "[1]"))
        let payload = try JSONValue(parsing: #"{"aps": {"badge": 3}}"#)
        let sent = try await client.send(.push, payload: payload, id: "a", waits: true)
        #expect(sent["outcome"]?["delivered"]?.int == 1)
        let again = try await client.send(.push, payload: payload, id: "a")
        #expect(again["duplicate"]?.bool == true)
        #expect(try await client.send(.background).kind == .object)
        #expect(try await client.status()["state"]?.string == "background")
        #expect(try await !client.canOpen("slate://nothing"))
        let error = await #expect(throws: HostClientError.self) {
            try await client.call("x.journal", "nothing")
        }
        guard case .refused(let refusal)? = error else {
            Issue.record("\(error as (any Error)?)")
            return
        }
        #expect(refusal.code == .notFound)
        #expect(try await client.disable("x.main")["outcome"]?.string == "refused")
        #expect(try await client.enable("x.journal")["outcome"]?.string == "unchanged")
        #expect(try await client.setLogLevel(.debug, of: "x.journal")["modules"]?.count == 1)
        #expect(try await client.setLogLevel(nil, of: "x.journal")["modules"]?.count == 0)
        #expect(try await client.logLevels()["level"]?.string == "info")
        #expect(try await client.reload()["outcome"]?.string == "unchanged")
        let text = try run.folder.text(of: "slatefile.json")
        #expect(
            try await client.apply(slatefile: text, named: "next")["outcome"]?.string
                == "unchanged")
        let tooLong = await #expect(throws: HostClientError.self) {
            try await client.apply(slatefile: text, probation: .seconds(3601))
        }
        #expect(
            tooLong.map { "\($0)" }?.contains("/probationMs: 3601000 is not in 0…3600000") == true)
        #expect(try await client.restart("x.journal")["outcome"]?.string == "restarted")
        #expect(try await client.stop()["outcome"]?.string == "stopped")
        var events: [String] = []
        for await element in tail {
            if case .line(let line) = element, let event = line["event"]?.string {
                events.append(event)
            }
        }
        #expect(events.prefix(3) == ["message", "push", "resign-active"], "\(events)")
        #expect(throws: HostClientError.self) {
            try HostClient(stateDirectory: run.folder.path("none"))
        }
    }
}

private enum Example {
    static func answers(of stateDirectory: String) async throws -> [String] {
        var printed: [String] = []
        func print(_ text: Any) { printed.append("\(text)") }
        let client = try HostClient(stateDirectory: stateDirectory)
        print(try await client.status()["state"]?.string ?? "?")
        let user = try await client.open("slate://com.mm.community/userInfo?style=1")
        print(user.json["style"]?.text ?? "?")
        print(try await client.canOpen("slate://"))
        return printed
    }
}
