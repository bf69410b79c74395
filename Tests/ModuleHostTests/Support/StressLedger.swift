import AppService
import Glibc
import TestSupport

@testable import ModuleHostCore

/// What the modules of one stress test received, and the doors they stand before.
final class StressLedger: Sendable {
    struct Entry {
        let topic: String
        let number: Int
        let position: UInt64
    }

    private struct State {
        var accounts: [String: [Entry]] = [:]
        var diagnostics: [String] = []
        var posts: [String] = []
        var doors: [(door: Door, isOnLane: Bool)] = []
        var lane: Lane?
        var isOpen = false
    }

    let name: String
    let seed: UInt64
    private let state = Guarded(State())
    private static let all = Guarded<[String: StressLedger]>([:])

    init(_ name: String, seed: UInt64) {
        self.name = name
        self.seed = seed
        Self.all.withLock { $0[name] = self }
    }

    static func named(_ name: String) -> StressLedger? { all.withLock { $0[name] } }

    var accounts: [String: [Entry]] { state.withLock { $0.accounts } }
    var diagnostics: [String] { state.withLock { $0.diagnostics } }
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func close(_ name: String, _ account: sending [Entry]) {
        state.withLock { [account] in $0.accounts[name] = account }
    }

    /// What was posted, sorted.
    var posts: [String] { state.withLock { $0.posts.sorted() } }

    /// Posts a message, and remembers it.
    func post(_ topic: String, by context: ModuleContext) throws {
        state.withLock { $0.posts.append(topic) }
        try context.post(topic)
    }

    func problem(_ text: String) { state.withLock { $0.diagnostics.append(text) } }

    /// Gets stuck, until the clock's thread comes by.
    func getStuck() {
        let door = Door()
        state.withLock { state in
            let isOnLane = state.lane?.hold != nil
            state.isOpen ? door.open() : state.doors.append((door, isOnLane))
        }
        door.pass()
    }

    func nextDoor() -> (door: Door, isOnLane: Bool)? {
        state.withLock { $0.doors.isEmpty ? nil : $0.doors.removeFirst() }
    }

    func watch(_ lane: Lane) { state.withLock { $0.lane = lane } }

    func closeDoors() { state.withLock { $0.isOpen = false } }

    /// Opens all doors, also those to come.
    func openDoors() {
        let doors = state.withLock { state in
            state.isOpen = true
            defer { state.doors = [] }
            return state.doors
        }
        for (door, _) in doors { door.open() }
    }

    /// Runs the clock until the doors are opened for good and no module is overdue any more.
    func runClock(
        _ time: ManualTimeSource, _ lane: Lane, seed: Int
    ) throws -> Promise<Void> {
        let calm = Promise<Void>()
        try NativeThread.start(name: "clock") { [self] in
            var random = SeededGenerator(seed: UInt64(seed))
            while !isOpen {
                sched_yield()
                guard let (door, isOnLane) = nextDoor() else { continue }
                // Some doors open before the deadline has gone by, some after it. Time stands still
                // but for those who stand before a door: a deadline is longer than any other code
                // takes, and this clock must not make it shorter.
                let word = lane.ownership
                for _ in 0..<Int.random(in: 0..<20, using: &random)
                where isOnLane && lane.ownership == word {
                    time.advance(by: .milliseconds(100))
                }
                door.open()
            }
            while !lane.overdueSlots.isEmpty { sched_yield() }
            calm.keep(())
        }
        return calm
    }
}

/// Sees that a module and its members are entered by one thread at a time.
///
/// Deliberately without any synchronization, so that the thread sanitizer sees it, too.
final class Confinement {
    private var thread: UInt = 0
    private var depth = 0

    func inside<Result>(_ ledger: StressLedger, _ body: () throws -> Result) rethrows -> Result {
        let current = NativeThread.current
        if depth > 0, thread != current { ledger.problem("entered by two threads at once") }
        thread = current
        depth += 1
        defer { depth -= 1 }
        return try body()
    }
}
