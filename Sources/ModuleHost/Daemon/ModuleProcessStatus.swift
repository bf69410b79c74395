/// How the process of a module is doing: part of a row of `hostd modules`.
package struct ModuleProcessStatus: Hashable, Sendable {
    /// Nil while there is none.
    package var processID: Int32?
    /// Since when it runs, or ran.
    package var startedAt: WallTime
    /// How often it was started again.
    package var restarts = 0
    /// How the last one ended, and when; nil where none has.
    package var lastEnd: String?
    package var endedAt: WallTime?
    /// Its memory, in bytes; nil where that is not known.
    package var residentBytes: Int?

    package init(processID: Int32?, startedAt: WallTime) {
        self.processID = processID
        self.startedAt = startedAt
    }

    func write(to json: inout JSONWriter) {
        json.object {
            if let processID { $0.member("pid", Int(processID)) }
            $0.member("startedAt", startedAt.iso8601)
            $0.member("restarts", restarts)
            if let residentBytes { $0.member("residentBytes", residentBytes) }
            if let lastEnd { $0.member("lastEnd", lastEnd) }
            if let endedAt { $0.member("endedAt", endedAt.iso8601) }
        }
    }
}

extension ModuleProcessStatus {
    /// The same with what the system says of the process now.
    func measured() -> ModuleProcessStatus {
        var status = self
        status.residentBytes = processID.flatMap(residentBytes(ofProcess:))
        return status
    }
}
