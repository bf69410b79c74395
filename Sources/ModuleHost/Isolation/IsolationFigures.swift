/// What is shown of a module's process.
struct IsolationFigures: Hashable, Sendable {
    /// Nil while there is none.
    private(set) var processID: Int32?
    private(set) var startedAt: WallTime
    /// How often it was started again.
    private(set) var restarts = 0
    /// How the last one ended.
    private(set) var lastEnd: String?

    init(processID: Int32, startedAt: WallTime) {
        self.processID = processID
        self.startedAt = startedAt
    }

    mutating func ended(_ end: ModuleEnd) {
        processID = nil
        lastEnd = "\(end)"
    }

    mutating func started(_ processID: Int32, at time: WallTime) {
        self.processID = processID
        startedAt = time
        restarts += 1
    }
}
