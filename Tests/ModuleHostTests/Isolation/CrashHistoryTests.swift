import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Modules at whose work hosts died")
struct CrashHistoryTests {
    private let folder: TemporaryFolder
    private var directory: StateDirectory { StateDirectory(path: folder.path) }

    init() throws { folder = try TemporaryFolder() }

    private static func id(_ text: String) -> ModuleID { ModuleID(checked: text) }

    private func death(
        of process: Int32 = 1, at module: String? = nil, overdue: [String] = [],
        startingUp: [String] = [], cause: LastDeath.Cause = .process
    ) -> LastDeath {
        var death = LastDeath(
            cause: cause, processID: process, startedAt: WallTime(seconds: Int(process)))
        death.module = module.map(Self.id)
        death.overdue = overdue.map(Self.id)
        death.startingUp = startingUp.map(Self.id)
        return death
    }

    @Test("the module that was the cause, as far as is known")
    func culprit() {
        #expect(death(at: "x.a", overdue: ["x.b"]).culprit == Self.id("x.a"))
        #expect(death(overdue: ["x.b"]).culprit == Self.id("x.b"))
        #expect(death(startingUp: ["x.c"]).culprit == Self.id("x.c"))
        #expect(death(overdue: ["x.c"], startingUp: ["x.c"]).culprit == Self.id("x.c"))
        #expect(death(overdue: ["x.b"], startingUp: ["x.c"]).culprit == nil)
        #expect(death().culprit == nil)
        #expect(death(at: "x.a", cause: .machine).culprit == nil)
    }

    @Test("two deaths isolate a module, and no death counts twice")
    func count() throws {
        func note(_ death: LastDeath) throws -> CrashHistory {
            try CrashHistory.update(in: directory) { $0.record(death) { _ in true } }
        }
        #expect(try note(death(of: 1, at: "x.a")).isolated.isEmpty)
        #expect(try note(death(of: 1, at: "x.a")).isolated.isEmpty)
        #expect(try note(death(of: 2, at: "x.b")).isolated.isEmpty)
        #expect(try note(death(of: 3)).isolated.isEmpty)
        let history = try note(death(of: 4, at: "x.a"))
        #expect(Array(history.isolated.keys) == [Self.id("x.a")])
        #expect(try CrashHistory(in: directory) == history)
        #expect(
            try folder.text(of: CrashHistory.fileName)
                == #"{"modules":{"#
                + #""x.a":{"deaths":2,"host":"4 1970-01-01T00:00:04.000Z","text":"the last host (process 4) died while 'x.a' was running, outside events"},"#
                + #""x.b":{"deaths":1,"host":"2 1970-01-01T00:00:02.000Z","text":"the last host (process 2) died while 'x.b' was running, outside events"}}}"#
                + "\n")
        let forgiven = try CrashHistory.update(in: directory) {
            $0.resetCrashes(Self.id("x.a")) != nil
        }
        #expect(Array(forgiven.records.keys) == [Self.id("x.b")])
        #expect(try CrashHistory(in: directory) == forgiven)
    }

    @Test("who cannot have been the cause is not blamed")
    func candidates() throws {
        let history = try CrashHistory.update(in: directory) {
            $0.record(death(at: "x.a")) { _ in false }
        }
        #expect(history.records.isEmpty)
        #expect(!fileExists(folder.path(CrashHistory.fileName)))
    }

    @Test(
        "a file that is none of ours",
        arguments: ["", "[]", #"{"modules":{"no id!":{"deaths":1,"host":"","text":""}}}"#])
    func broken(text: String) throws {
        try folder.write(text, to: CrashHistory.fileName)
        #expect(throws: CrashHistoryError.self) { try CrashHistory(in: directory) }
    }

    @Test("a file of another user is not called broken")
    func notReadable() {
        #expect(
            "\(CrashHistoryError.notReadable(path: "isolated.json"))"
                == "'isolated.json', which counts the deaths of hosts, may not be read by this user; only "
                + "the user of the host and root may")
    }

    @Test("a slatefile isolates those that it leaves to the host, and no others")
    func slatefile() throws {
        for process: Int32 in 1...8 {
            let module = ["x.a", "x.b", "x.c", "x.d"][Int(process) % 4]
            try CrashHistory.update(in: directory) {
                $0.record(death(of: process, at: module)) { _ in true }
            }
        }
        let text = """
            {"slate": 1, "app": "a", "isolation": "POLICY", "modules": [
              {"id": "x.a", "entry": "A.A", "main": true},
              {"id": "x.b", "entry": "A.B", "isolation": "none"},
              {"id": "x.c", "command": ["c"]},
              {"id": "x.e", "entry": "A.E"},
              {"id": "x.d", "entry": "ModuleHostTests.DeclaredServices"}]}
            """
        func isolated(_ policy: String) throws -> [Slatefile.Isolation?] {
            let text = text.split(separator: "POLICY").joined(separator: policy)
            let slatefile = try Slatefile.read(
                Array(text.utf8), path: "slatefile.json", environment: { _ in nil })
            return slatefile.isolatingCrashed(in: directory, log: LogRecorder().log).modules
                .map(\.isolation)
        }
        #expect(try isolated("auto") == [.process, Slatefile.Isolation.none, nil, nil, nil])
        #expect(try isolated("declared") == [nil, Slatefile.Isolation.none, nil, nil, nil])
    }

    @Test(
        "a module that registered a service in the host stays there, and the death does not count")
    func registers() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path)
        let text = """
            {"slate": 1, "app": "a", "isolation": "auto", "modules": [
              {"id": "x.a", "entry": "ModuleHostTests.ProbeModule", "main": true}]}
            """
        let slatefile = try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { _ in nil })
        func messages(_ death: LastDeath) -> [String] {
            let recorder = LogRecorder()
            _ = slatefile.isolatingCrashed(in: directory, after: death, log: recorder.log)
            return recorder.messages
        }
        for process in Int32(1)...3 {
            var death = death(of: process, at: "x.a")
            death.registering = [Self.id("x.a")]
            #expect(
                messages(death) == [
                    "was running when the last host died, and stays in the host: it registers a service that "
                        + "its class does not declare (ServiceProvider)"
                ])
        }
        #expect(try CrashHistory(in: directory).records.isEmpty)
        for process in Int32(4)...5 { _ = messages(death(of: process, at: "x.a")) }
        let history = try CrashHistory(in: directory)
        #expect(history.records[Self.id("x.a")]?.deaths == 2)
    }
}
