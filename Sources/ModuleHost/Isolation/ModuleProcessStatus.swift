/// The status of a module's process: part of a row of `hostd modules`.
package struct ModuleProcessStatus: Hashable, Sendable {
    /// The number of the process; nil while there is none.
    package private(set) var processID: Int32?
    /// The start of the process that runs, or ran last.
    package private(set) var startedAt: WallTime
    /// The number of restarts.
    package private(set) var restarts = 0
    /// The end of the last process; nil if none has ended.
    package private(set) var lastEnd: String?
    package private(set) var endedAt: WallTime?
    /// The memory of the process in bytes; nil where that is not known.
    package private(set) var residentBytes: Int?
    /// The file that the process runs, or ran last; nil where it is not known.
    private(set) var program: ProgramFile?
    /// Whether the process is one of the host's own program, which is started from the same file each time.
    private let isOfHost: Bool
    /// Whether another file is at the program's path by now.
    private(set) var isOutdated = false

    /// Creates the status of the first process, which was just started.
    init(processID: Int32, of spec: LaunchSpec) {
        self.processID = processID
        startedAt = WallTime.now()
        program = spec.program
        isOfHost = spec.isSwift
    }

    /// Notes that the process has just ended.
    mutating func noteEnd(_ end: ProcessExit) {
        (processID, lastEnd, endedAt) = (nil, "\(end)", WallTime.now())
    }

    /// Notes that another process was just started.
    ///
    /// - Parameter program: The file that it runs.
    mutating func noteRestart(processID: Int32, _ program: ProgramFile?) {
        (self.processID, startedAt, self.program) = (processID, WallTime.now(), program)
        restarts += 1
    }

    func write(to json: inout JSONWriter) {
        json.object {
            if let processID { $0.member("pid", Int(processID)) }
            $0.member("startedAt", startedAt.iso8601)
            $0.member("restarts", restarts)
            if let residentBytes { $0.member("residentBytes", residentBytes) }
            if let program {
                $0.member("program", program.path)
                $0.member("programTime", program.written.iso8601)
            }
            if isOutdated { $0.member("outdated", isOfHost ? "host" : "module") }
            if let lastEnd { $0.member("lastEnd", lastEnd) }
            if let endedAt { $0.member("endedAt", endedAt.iso8601) }
        }
    }
}

extension ModuleProcessStatus {
    /// Returns the same status with the system's current data about the process.
    func measured() -> ModuleProcessStatus {
        var status = self
        status.residentBytes = processID.flatMap(residentBytes(ofProcess:))
        status.isOutdated = processID != nil && program?.isReplaced == true
        return status
    }
}
