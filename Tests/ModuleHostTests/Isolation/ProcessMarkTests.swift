import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("ProcessMark")
struct ProcessMarkTests {
    private let folder: TemporaryFolder
    private let claim: PidFile
    private let mark: ProcessMark
    private let recorder = LogRecorder()

    init() throws {
        folder = try TemporaryFolder()
        claim = try PidFile(claiming: StateDirectory(path: folder.path("state")))
        mark = ProcessMark(claim)
    }

    /// A process that has printed a line: for a moment after `exec`, /proc shows an empty environment.
    private func follower(_ mark: String) throws -> HostProcess {
        try folder.write("running\n", to: "followed")
        let process = try HostProcess(
            ["-n", "+1", "-f", folder.path("followed")], program: "/usr/bin/tail",
            environment: [ProcessMark.variable: mark])
        try process.waitForLine(containing: "running", on: .output)
        return process
    }

    private func end(within time: Duration = HostProcess.patience) -> [String] {
        mark.endProcesses(of: .lastHost, within: time, log: Log(to: recorder))
        return recorder.records.map { "\($0.level) \($0.message)" }
    }

    private func isRunning(_ process: HostProcess) -> Bool {
        Glibc.kill(process.processID, 0) == 0
            && waitpid(process.processID, nil, WNOHANG) == 0
    }

    @Test("where nothing is left nothing is said")
    func nothing() {
        #expect(end() == [])
    }

    @Test("what has the mark is killed and named; what has nearly the same is not")
    func several() throws {
        let module = try ModuleID("x.weather")
        let left = try [mark.text(for: module), mark.text(for: nil)].map(follower)
        let others = try [
            "", "1:1:x.weather", "1" + mark.text(for: module),
            String(mark.text(for: nil).dropLast()) + "1:x.weather",
        ].map(follower)
        let lines = end()
        let names = [
            "(process \(left[0].processID), of x.weather)", "(process \(left[1].processID))",
        ]
        let order = left[0].processID < left[1].processID ? names : names.reversed()
        #expect(
            lines == [
                "warning killed processes that modules of the last host had left: "
                    + order.map { "'tail' \($0)" }.joined(separator: ", ")
            ])
        for process in left { #expect(try process.waitForExit().exit == .signal(SIGKILL)) }
        for process in others { #expect(isRunning(process)) }
    }

    @Test("of many eight are named")
    func many() throws {
        let left = try (0..<12).map { _ in try follower(mark.text(for: nil)) }
        #expect(end().first?.hasSuffix(" and 4 more") == true)
        for process in left { #expect(try process.waitForExit().exit == .signal(SIGKILL)) }
    }

    @Test("one that does not end in time is named")
    func stuck() throws {
        let left = try follower(mark.text(for: nil))
        #expect(
            end(within: .zero) == [
                "error processes that modules of the last host have left do not end, though killed "
                    + "0ns ago, and may still run beside those of this host: "
                    + "'tail' (process \(left.processID))"
            ])
        #expect(try left.waitForExit().exit == .signal(SIGKILL))
    }

    @Test("a process of a module has its host's mark, never the one that the host has itself")
    func environment() throws {
        var settings = ProcessSettings(environment: ["PATH": "/bin", ProcessMark.variable: "1:1:x"])
        let module = try ModuleID("x.weather")
        func value() -> String? {
            LaunchSpec(["x"], naming: [ProcessMark.variable], in: settings, for: module)
                .environment[ProcessMark.variable]
        }
        #expect(value() == nil)
        settings.mark = mark
        #expect(value() == "\(claim.identity):x.weather")
    }
}
