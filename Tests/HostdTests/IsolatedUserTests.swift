import Glibc
import ModuleHost
import TestSupport
import Testing

/// A Swift module in a process of its own that uses a service, in the real host.
@Suite("a service that is used from a process of its own", .timeLimit(.minutes(10)))
struct IsolatedUserTests {
    private static let program = HostProcess.program("TestHost")
    private static let isolated = #", "isolation": "process""#

    private func slatefile(
        community: String = "x.community", _ more: String = "", user: String = isolated
    ) -> String {
        """
        {"slate": 1, "app": "test", "config": {"domain": "https://www.example.com"}, "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "\(community)", "entry": "Modules.CommunityModule"\(more)},
          {"id": "x.user", "entry": "TestHost.DirectoryUser"\(user)}
        ]}
        """
    }

    private func run(_ arguments: [String], in folder: TemporaryFolder) throws -> String {
        let outcome = try HostProcess.run(arguments, program: Self.program, in: folder.path)
        #expect(outcome.exit == .code(0), "\(arguments): \(outcome.error)")
        return outcome.output
    }

    private func process(in host: HostdRun) throws -> pid_t {
        let modules = try JSONValue(parsing: run(["modules", "--json"], in: host.folder))
        let user = modules.elements.first { $0["id"]?.string == "x.user" }
        return pid_t(try #require(user?["process"]?["pid"]?.int))
    }

    @Test(
        "is called wherever its provider runs, and by the next process of the user as well",
        arguments: ["", isolated])
    func used(provider: String) throws {
        let host = try HostdRun(slatefile(provider), program: Self.program).ready()
        let folder = host.folder
        #expect(try run(["call", "x.user", "who"], in: folder) == "null\n")
        let ann = #"{"at": "x.community", "name": "ann"}"#
        _ = try run(["call", "x.user", "write", ann], in: folder)
        #expect(try run(["call", "x.user", "who"], in: folder) == "\"ann\"\n")
        #expect(try run(["call", "x.user", "posts", #"{"of": "ann"}"#], in: folder) == "1\n")
        let process = try process(in: host)
        kill(process, SIGKILL)
        try host.process.waitForLine(containing: "runs again, as process ")
        #expect(try run(["call", "x.user", "who"], in: folder) == "\"ann\"\n")
        #expect(try self.process(in: host) != process)
        #expect(try host.terminated().exit == .code(0))
    }

    @Test("a reload with another provider recreates the users that have a process of their own")
    func reloaded() throws {
        let host = try HostdRun(slatefile(), program: Self.program).ready()
        try host.folder.write(slatefile(community: "x.people"), to: "slatefile.json")
        #expect(
            try run(["reload"], in: host.folder)
                == "applied: added x.people; removed x.community; recreated x.user\n")
        _ = try run(
            ["call", "x.user", "write", #"{"at": "x.people", "name": "bob"}"#], in: host.folder)
        #expect(try run(["call", "x.user", "who"], in: host.folder) == "\"bob\"\n")
        #expect(try run(["reload"], in: host.folder) == "nothing changed\n")
        #expect(try host.terminated().exit == .code(0))
    }

    @Test("'check' says for machines, too, which modules may be isolated")
    func forecast() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            slatefile(user: "").replacing(
                "{\"slate\": 1,", with: #"{"slate": 1, "isolation": "auto","#),
            to: "slatefile.json")
        let report = try JSONValue(parsing: run(["check", "--json"], in: folder))
        let expected = ["x.main", "x.community", "x.user"].map {
            #"{"module":"\#($0)","canBeIsolated":true}"#
        }
        #expect(report["isolation"]?.elements.map(\.text) == expected)
        #expect(
            try run(["check"], in: folder).hasSuffix("  x.user: can run in a process of its own\n"))
    }

    @Test("is refused where no module provides it, before anything runs")
    func missing() throws {
        let folder = try TemporaryFolder()
        try folder.write(slatefile(#", "enabled": false"#), to: "slatefile.json")
        let outcome = try HostProcess.run(["check"], program: Self.program, in: folder.path)
        #expect(outcome.exit == .code(78))
        #expect(
            outcome.error.contains(
                "'TestHost.DirectoryUser' uses service 'UserDirectory', which only x.community declares"
            ),
            "\(outcome.error)")
    }
}
