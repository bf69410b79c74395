import AppService
import Dispatch

/// What happened, in order, from any thread.
final class Record: Sendable {
    private let lines = Guarded<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A door that is shut until it is opened; tests wait for it, and so does the work of tasks.
final class Door: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())
    private let threads = DispatchSemaphore(value: 0)

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        threads.signal()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the thread; several may.
    func block() {
        threads.wait()
        threads.signal()
    }
}

extension StartupTask {
    /// Creates a task that opens a door when it begins, and blocks its thread until another one is open.
    static func blocking(
        _ name: String, priority: StartupPriority = .default, deadline: Duration? = nil,
        required: Bool = false, _ began: Door, until gate: Door
    ) -> StartupTask {
        StartupTask(name, priority: priority, deadline: deadline, required: required) {
            began.open()
            gate.block()
        }
    }
}

struct Boom: Error, CustomStringConvertible {
    var description = "boom"
}

extension StartupReport {
    subscript(name: String) -> Entry? { tasks.first { $0.name == name } }

    func outcome(_ name: String) -> StartupOutcome? { self[name]?.outcome }
}

/// xorshift: the same numbers on every machine.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }
}

/// Keeps a receipt until the test wants to give it.
final class HeldReceipt: Sendable {
    private let receipt = Guarded<StartupReceipt?>(nil)

    func hold(_ new: StartupReceipt) { receipt.withLock { $0 = new } }

    func take() -> StartupReceipt? {
        receipt.withLock { receipt in
            defer { receipt = nil }
            return receipt
        }
    }
}
