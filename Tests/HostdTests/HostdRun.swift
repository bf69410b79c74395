import Glibc
import ModuleHost
import TestSupport
import Testing

/// A `hostd run` on a slatefile in a folder of its own.
final class HostdRun {
    let folder: TemporaryFolder
    let process: HostProcess

    /// The slatefile that this repository ships.
    static func shippedSlatefile() throws -> String {
        try Repository.slatefile()
    }

    /// A slatefile with a journal.
    ///
    /// - Parameters:
    ///   - journal: What stands beside `id` and `entry` of the journal module.
    ///   - top: More members of the slatefile.
    /// - Returns: Its text.
    static func slatefile(journal: String = "", top: String = "") -> String {
        """
        {"slate": 1, "app": "test", \(top.isEmpty ? "" : top + ", ")"modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.journal", "entry": "Modules.JournalModule"\(journal.isEmpty ? "" : ", " + journal)}
        ]}
        """
    }

    /// Starts a host, without waiting for anything.
    ///
    /// - Parameters:
    ///   - slatefile: Its text; nil for what the folder has.
    ///   - folder: The folder to run in, or nil for a new one.
    ///   - arguments: What follows `run`.
    ///   - program: The path of a host of one's own, which is given the arguments alone; nil for `hostd`.
    ///   - environment: What is set for it.
    ///   - blocked: The signals that it begins with as blocked.
    ///   - shell: What a shell does before it becomes the host.
    ///   - output: What its stdout is.
    ///   - error: What its stderr is.
    /// - Throws: Where the folder or the process cannot be made.
    init(
        _ slatefile: String?, in folder: TemporaryFolder? = nil, _ arguments: [String] = [],
        program: String? = nil, environment: [String: String] = [:],
        blocked: SignalSet = SignalSet(), shell: String? = nil,
        output: HostProcess.Standard = .pipe, error: HostProcess.Standard = .pipe
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        if let slatefile { try self.folder.write(slatefile, to: "slatefile.json") }
        let words = (program == nil ? ["run"] : []) + arguments
        process =
            if let shell {
                try HostProcess(
                    ["-c", shell + #"; exec "$0" "$@""#, program ?? HostProcess.hostd] + words,
                    program: "/bin/sh", in: self.folder.path, environment: environment,
                    output: output, error: error, blocked: blocked)
            } else {
                try HostProcess(
                    words, program: program, in: self.folder.path, environment: environment,
                    output: output, error: error, blocked: blocked)
            }
    }

    /// Waits for the line that says it is ready.
    func ready() throws -> HostdRun {
        try process.waitForLine(containing: "ready pid=", on: .output)
        return self
    }

    /// Ends it with TERM.
    func terminated() throws -> HostProcess.Outcome {
        process.send(SIGTERM)
        return try ended()
    }

    /// Waits for its end.
    func ended() throws -> HostProcess.Outcome { try process.waitForExit() }

    /// Sends a real-time signal with a value as soon as the queue has room.
    func queue(_ signal: Int32, value: Int32 = 0) {
        while !process.queue(signal, value: value) { sched_yield() }
    }

    /// The journal's lines.
    func journal(_ name: String = ".hostd/journal.ndjson") throws -> [JSONValue] {
        try folder.text(of: name).split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }

    /// Waits until the journal's last event is this one, where the host itself has no output.
    func waitForJournal(last event: String) throws {
        let deadline = ContinuousClock.now + HostProcess.patience
        while (try? journaledEvents().last) != event {
            try #require(ContinuousClock.now < deadline, "the journal never had \(event)")
            sched_yield()
        }
    }

    /// The events of the journal, in order.
    func journaledEvents(_ name: String = ".hostd/journal.ndjson") throws -> [String] {
        try journal(name).compactMap { $0["event"]?.string }
    }
}

/// The first real-time signal that a slatefile can name, and those after it.
func realTime(_ number: Int32) -> Int32 { __libc_current_sigrtmin() + number }
